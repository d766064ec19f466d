/** The titles of the tests in a file, read from its source: nothing is run. */
import ts from 'typescript';

/** A test with the groups around it, as they stand in the source. */
export interface TestTitle {
  /** `describe > test`, with placeholders such as `%s` and `$name` as they are; those of template literals are `%s`. */
  readonly text: string;
  /** Matches the title after placeholders are filled in; what they were filled in with are its groups. */
  readonly pattern: RegExp;
}

const ROOTS: ReadonlySet<string> = new Set(['describe', 'test', 'it', 'storeTest']);
/** What does not run shows nothing. */
const OFF: ReadonlySet<string> = new Set(['skip', 'todo', 'fails']);
/** What `each` fills in. */
const PLACEHOLDER = /%[sdifjo#]|\$[A-Za-z_][A-Za-z0-9_.]*/g;

export interface TestFile {
  readonly tests: readonly TestTitle[];
  /** Every string, number and name of the file: what placeholders can be filled in with. */
  readonly words: ReadonlySet<string>;
}

/** @param source the text of a test file */
export function readTestFile(source: string): TestFile {
  const found: TestTitle[] = [];
  const words = new Set<string>();
  const visit = (node: ts.Node, around: readonly Title[]): void => {
    if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node) || ts.isIdentifier(node)) words.add(node.text);
    const call = ts.isCallExpression(node) ? declared(node) : null;
    if (call?.isOff) return;
    const titles = call === null ? around : [...around, call.title];
    if (call !== null && call.root !== 'describe') found.push(joined(titles));
    ts.forEachChild(node, (child) => visit(child, titles));
  };
  visit(ts.createSourceFile('file.ts', source, ts.ScriptTarget.Latest, true), []);
  return { tests: found, words };
}

interface Title {
  readonly text: string;
  /** Source of a regular expression. */
  readonly pattern: string;
}

interface Declared {
  readonly root: string;
  readonly isOff: boolean;
  readonly title: Title;
}

/** What `test('...', () => {})`, `describe.each(...)('...', () => {})` and the like declare. */
function declared({ expression, arguments: given }: ts.CallExpression): Declared | null {
  const [first] = given;
  if (first === undefined || !given.some((one) => ts.isArrowFunction(one) || ts.isFunctionExpression(one))) return null;
  const words: string[] = [];
  let callee: ts.Expression = expression;
  while (!ts.isIdentifier(callee)) {
    if (ts.isPropertyAccessExpression(callee)) {
      words.push(callee.name.text);
      callee = callee.expression;
    } else if (ts.isCallExpression(callee)) callee = callee.expression;
    else if (ts.isTaggedTemplateExpression(callee)) callee = callee.tag;
    else return null;
  }
  if (!ROOTS.has(callee.text)) return null;
  return { root: callee.text, isOff: words.some((word) => OFF.has(word)), title: titleOf(first) };
}

function titleOf(node: ts.Expression): Title {
  if (ts.isStringLiteralLike(node)) return titled(node.text);
  if (!ts.isTemplateExpression(node)) return titled('%s');
  return titled([node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join('%s'));
}

function titled(text: string): Title {
  const parts = text.split(PLACEHOLDER).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return { text, pattern: parts.join('(.+)') };
}

function joined(titles: readonly Title[]): TestTitle {
  return {
    text: titles.map(({ text }) => text).join(' > '),
    pattern: new RegExp(`^${titles.map(({ pattern }) => pattern).join(' > ')}$`),
  };
}
