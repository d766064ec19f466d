/**
 * Generates generated/api: for each entry point of the package, the declarations that it exports and those that they mention. With --check, fails
 * if a report is out of date, so that every change of the public interface is visible in its diff.
 *
 *     npm run generate
 *     npm run generate:check
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = path.join(root, 'generated/api');

const config = ts.getParsedCommandLineOfConfigFile(
  path.join(root, 'tsconfig.json'),
  {},
  {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
      throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'));
    },
  },
);
if (config === undefined) throw new Error('tsconfig.json cannot be read');

/** Returns the sources of entry points: `src/accp/codec/index.ts` for `./accp/session`. */
async function entryPoints(): Promise<ReadonlyMap<string, string>> {
  const { exports } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { types: string }>;
  };
  const found = new Map<string, string>();
  for (const [name, target] of Object.entries(exports)) {
    if (typeof target === 'string') continue;
    const declarations = target.types.replace('./dist/', '');
    found.set(name, name.startsWith('./generated/') ? declarations : declarations.replace(/\.d\.ts$/, '.ts'));
  }
  return found;
}

/** Returns the declarations of all sources, as in the build. */
function declarationsOf(sources: readonly string[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const program = ts.createProgram(sources, {
    ...config?.options,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    removeComments: true,
    // Without it, the order of unions depends on the order of files.
    stableTypeOrdering: true,
    rootDir: root,
    outDir: root,
  });
  program.emit(undefined, (file, text) => files.set(path.resolve(file), text));
  return files;
}

/** Creates a program from declarations in memory. */
function programOf(declarations: ReadonlyMap<string, string>, names: readonly string[]): ts.Program {
  const options = { ...config?.options, allowJs: false };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile: read, getSourceFile } = host;
  const isReplaced = (file: string) => declarations.has(path.resolve(file.replace(/(?<!\.d)\.ts$/, '.d.ts')));
  host.fileExists = (file) => declarations.has(path.resolve(file)) || (!isReplaced(file) && fileExists(file));
  host.readFile = (file) => declarations.get(path.resolve(file)) ?? read(file);
  host.getSourceFile = (file, version, ...rest) => {
    const text = declarations.get(path.resolve(file));
    return text === undefined ? getSourceFile(file, version, ...rest) : ts.createSourceFile(file, text, version, true);
  };
  return ts.createProgram(names, options, host);
}

interface Declared {
  readonly name: string;
  readonly symbol: ts.Symbol;
}

/** Returns the reports by file name: one per entry point, and one of declarations that are mentioned but not exported. */
function reportsOf(program: ts.Program, entries: ReadonlyMap<string, ts.SourceFile>): ReadonlyMap<string, string> {
  const checker = program.getTypeChecker();
  const printer = ts.createPrinter({ removeComments: true });
  const resolved = (symbol: ts.Symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const isOurs = (node: ts.Node) => !node.getSourceFile().fileName.includes('/node_modules/');

  const exports = new Map<string, readonly Declared[]>();
  for (const [name, entry] of entries) {
    const module = checker.getSymbolAtLocation(entry);
    if (module === undefined) throw new Error(`${entry.fileName} exports nothing`);
    const symbols = checker.getExportsOfModule(module);
    exports.set(
      name,
      symbols.map((symbol) => ({ name: symbol.name, symbol: resolved(symbol) })),
    );
  }
  const known = new Set([...exports.values()].flat().map(({ symbol }) => symbol));
  const mentioned: Declared[] = [];

  /** Collects the declarations of the package that a declaration mentions. */
  const visit = (node: ts.Node): void => {
    const named = ts.isImportTypeNode(node) ? node.qualifier : node;
    const symbol = named && ts.isIdentifier(named) ? checker.getSymbolAtLocation(named) : undefined;
    const target = symbol && resolved(symbol);
    const declaration = target?.declarations?.[0];
    if (target && declaration && isTopLevel(declaration) && isOurs(declaration) && !known.has(target)) {
      known.add(target);
      mentioned.push({ name: target.name, symbol: target });
    }
    ts.forEachChild(node, visit);
  };

  const textOf = ({ name, symbol }: Declared): string => {
    const statements = new Set((symbol.declarations ?? []).filter(isOurs).map(statementOf));
    if (symbol.flags & ts.SymbolFlags.ValueModule) return `export * as ${name};`;
    if (statements.size === 0) return `export { ${name} };`;
    const texts = [...statements].map((statement) => {
      visit(statement);
      return printer.printNode(ts.EmitHint.Unspecified, statement, statement.getSourceFile());
    });
    const text = texts
      .join('\n')
      // Moving a file does not change the interface.
      .replace(/import\("\.[^"]*"\)\./g, '')
      .replace(/^ *(private|#private).*\n/gm, '')
      .replace(/^export (declare )?/gm, '');
    return name === symbol.name ? text : `// As ${name}:\n${text}`;
  };

  const reports = new Map<string, string>();
  for (const [name, symbols] of exports) {
    reports.set(name, [`// ${name}`, ...symbols.toSorted(byName).map(textOf)].join('\n\n'));
  }
  // The list grows during the iteration.
  const others: { name: string; text: string }[] = [];
  for (const item of mentioned) others.push({ name: item.name, text: textOf(item) });
  const texts = others.toSorted(byName).map(({ text }) => text);
  reports.set('mentioned', ['// Mentioned by entry points, and exported by none', ...texts].join('\n\n'));
  return reports;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function isTopLevel(node: ts.Node): boolean {
  const isNamed =
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isVariableDeclaration(node);
  return isNamed && ts.isSourceFile(statementOf(node).parent);
}

/** Returns the statement that contains a declaration; for a variable, it is two levels up. */
function statementOf(declaration: ts.Node): ts.Node {
  return ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
}

async function main(): Promise<void> {
  const entries = await entryPoints();
  const sources = [...entries.values()].map((source) => path.join(root, source));
  const declarations = declarationsOf(sources.filter((source) => !source.endsWith('.d.ts')));
  const declared = (source: string) => path.join(root, source.replace(/(?<!\.d)\.ts$/, '.d.ts'));
  const program = programOf(
    declarations,
    [...entries.values()].map((source) => declared(source)),
  );
  const files = new Map<string, ts.SourceFile>();
  for (const [name, source] of entries) {
    const file = program.getSourceFile(declared(source));
    if (file === undefined) throw new Error(`${source} has no declarations`);
    files.set(`pegwire${name.slice(1)}`, file);
  }
  const reports = new Map<string, string>();
  for (const [name, text] of reportsOf(program, files)) reports.set(`${name.replaceAll('/', '.')}.txt`, `${text}\n`);
  const present = await readdir(folder).catch((): string[] => []);
  if (process.argv.includes('--check')) {
    const differing: string[] = [];
    for (const [file, text] of reports) {
      const current = await readFile(path.join(folder, file), 'utf8').catch(() => null);
      if (current !== text) differing.push(file);
    }
    differing.push(...present.filter((file) => !reports.has(file)));
    if (differing.length === 0) return void console.log('generated/api is up to date.');
    console.error(`generated/api differs from the sources: ${differing.join(', ')}. Run npm run generate.`);
    process.exitCode = 1;
    return;
  }
  await mkdir(folder, { recursive: true });
  for (const file of present) if (!reports.has(file)) await rm(path.join(folder, file));
  for (const [file, text] of reports) await writeFile(path.join(folder, file), text);
}

await main();
