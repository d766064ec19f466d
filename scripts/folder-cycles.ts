/**
 * Finds the folders of src/ that import each other. At each level of the tree, the files and folders that stand side by side, a folder with
 * all that it holds, have to have an order in which each imports only those below it.
 *
 *     npm run deps
 */
import { pathToFileURL } from 'node:url';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';

/** One file and one that it imports, as paths with `/`. */
export type Import = readonly [from: string, to: string];

/**
 * Reports the cycles of each level as lines of text: the folder, its children that import each other, and for each pair of them the imports.
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

/** The sets of nodes of which each reaches each other, by what each reaches: the graphs are small. */
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

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const present = map.get(key);
  if (present !== undefined) return present;
  const made = make();
  map.set(key, made);
  return made;
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
