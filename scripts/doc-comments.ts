/**
 * Refuses declarations of the public interface without a doc comment: what the entry points of the package export, and the members of exported
 * interfaces, classes and object types.
 *
 *     npx tsx scripts/doc-comments.ts [PATH...]
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../', import.meta.url));
const paths = process.argv.slice(2).map((name) => path.resolve(name));

const { config } = ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
const { exports } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { types: string }>;
};
const entryPoints = Object.values(exports).flatMap((target) =>
  typeof target === 'string' || target.types.includes('/generated/')
    ? []
    : [path.join(root, target.types.replace('./dist/', '').replace(/\.d\.ts$/, '.ts'))],
);
const program = ts.createProgram(entryPoints, options);
const checker = program.getTypeChecker();

type Member = ts.TypeElement | ts.ClassElement;

const isOurs = (node: ts.Node) => node.getSourceFile().fileName.startsWith(path.join(root, 'src'));
const isDocumented = (symbol: ts.Symbol) => symbol.getDocumentationComment(checker).length > 0;
const isPrivate = (node: Member) =>
  (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.NonPublicAccessibilityModifier) !== 0 ||
  (node.name !== undefined && ts.isPrivateIdentifier(node.name));

/** The members that are written in a declaration of an interface, a class or an object type. */
function membersOf(node: ts.Node): readonly Member[] {
  if (ts.isInterfaceDeclaration(node) || ts.isClassLike(node) || ts.isTypeLiteralNode(node)) return node.members;
  if (ts.isTypeAliasDeclaration(node)) return membersOf(node.type);
  if (ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node)) return node.types.flatMap(membersOf);
  return [];
}

/** A discriminant such as `readonly kind: 'frame'` documents itself. */
const isDiscriminant = (node: ts.Node) =>
  ts.isPropertySignature(node) &&
  node.type !== undefined &&
  ts.isLiteralTypeNode(node.type) &&
  ts.isStringLiteral(node.type.literal);

const missing = new Set<string>();
let declarations = 0;
let members = 0;

function require(symbol: ts.Symbol, node: ts.Node, name: string): void {
  if (isDocumented(symbol)) return;
  const source = node.getSourceFile();
  if (paths.length > 0 && !paths.some((prefix) => source.fileName.startsWith(prefix))) return;
  const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
  missing.add(`${path.relative(root, source.fileName)}:${line + 1}: ${name} has no doc comment`);
}

const seen = new Set<ts.Symbol>();
for (const entry of entryPoints) {
  const module = checker.getSymbolAtLocation(program.getSourceFile(entry)!);
  for (const exported of checker.getExportsOfModule(module!)) {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    const own = (symbol.declarations ?? []).filter(isOurs);
    if (seen.has(symbol) || own.length === 0 || own.some(ts.isSourceFile)) continue;
    seen.add(symbol);
    declarations += 1;
    require(symbol, own[0]!, symbol.name);
    for (const member of own.flatMap(membersOf)) {
      const named = member.name === undefined ? undefined : checker.getSymbolAtLocation(member.name);
      if (named === undefined || isPrivate(member) || isDiscriminant(member)) continue;
      members += 1;
      require(named, member, `${symbol.name}.${named.name}`);
    }
  }
}

for (const message of [...missing].toSorted()) console.error(message);
console.log(`${declarations} exports and ${members} members; ${missing.size} without a doc comment`);
if (missing.size > 0) process.exitCode = 1;
