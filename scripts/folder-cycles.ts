/**
 * Finds cycles of imports between the folders of src/. At each level of the tree, the files and folders must have an order in which each imports
 * only those after it.
 *
 *     npm run deps
 */
import { pathToFileURL } from 'node:url';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';

/** An import, as paths with `/`. */
export type Import = readonly [from: string, to: string];

/**
 * Returns the cycles of each level as lines of text: the folder, its children that import each other, and the imports between them.
 */
export function folderCycles(imports: readonly Import[]): readonly string[] {
  const levels = new Map<string, Map<string, Map<string, string[]>>>();
  for (const [from, to] of imports) {
    const [a, b] = [from.split('/'), to.split('/')];
    let depth = 0;
    while (depth < a.length - 1 && a[depth] === b[depth]) depth += 1;
    const [child, other] = [a[depth], b[depth]];
    if (child === undefined || other === undefined || child === other) continue;
    const level = entry(levels, a.slice(0, depth).join('/'), () => new Map<string, Map<string, string[]>>());
    const targets = entry(level, child, () => new Map<string, string[]>());
    entry(targets, other, (): string[] => []).push(`${from} -> ${to}`);
  }
  const lines: string[] = [];
  for (const [folder, level] of [...levels].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    for (const cycle of cyclesOf(level)) {
      lines.push(`${folder}: ${cycle.join(', ')} import each other`);
      for (const child of cycle) {
        for (const other of cycle) lines.push(...(level.get(child)?.get(other) ?? []).map((line) => `  ${line}`));
      }
    }
  }
  return lines;
}

/** Returns the sets of nodes that reach each other, by the reachable nodes of each, since the graphs are small. */
function cyclesOf(graph: ReadonlyMap<string, ReadonlyMap<string, unknown>>): readonly (readonly string[])[] {
  const reached = new Map<string, Set<string>>();
  for (const start of graph.keys()) {
    const seen = new Set<string>();
    const rest = [start];
    for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
      for (const next of graph.get(node)?.keys() ?? []) {
        if (seen.has(next)) continue;
        seen.add(next);
        rest.push(next);
      }
    }
    reached.set(start, seen);
  }
  const cycles: (readonly string[])[] = [];
  const placed = new Set<string>();
  for (const [node, targets] of reached) {
    if (placed.has(node) || !targets.has(node)) continue;
    const cycle = [...targets].filter((other) => reached.get(other)?.has(node));
    for (const member of cycle) placed.add(member);
    cycles.push(cycle.toSorted());
  }
  return cycles;
}

function entry<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const present = map.get(key);
  if (present !== undefined) return present;
  const value = create();
  map.set(key, value);
  return value;
}

async function importsOf(folder: string): Promise<readonly Import[]> {
  const options = await extractOptions('./.dependency-cruiser.cjs');
  const { output } = await cruise([folder], { ...options, ruleSet: {}, validate: false }, undefined, {
    tsConfig: extractTsConfig('tsconfig.json'),
  });
  return (output as ICruiseResult).modules.flatMap(({ source, dependencies }) =>
    dependencies
      .map(({ resolved }): Import => [source, resolved])
      .filter((pair) => pair.every((file) => file.startsWith(`${folder}/`))),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const imports = await importsOf('src');
  const lines = folderCycles(imports);
  if (lines.length === 0) console.log(`No folders of src import each other (${imports.length} imports).`);
  else {
    console.error(lines.join('\n'));
    process.exitCode = 1;
  }
}
