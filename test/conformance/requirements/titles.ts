/** Reads the titles of the tests in a file from its source, without running it. */
import ts from 'typescript';

/** The title of a test with its enclosing groups, as in the source. */
export interface TestTitle {
  /** The title as `describe > test`, with placeholders such as `%s` and `$name`; those of template literals are `%s`. */
  readonly text: string;
  /** Matches the title with placeholders replaced; the replacements are its groups. */
  readonly pattern: RegExp;
}

const ROOTS: ReadonlySet<string> = new Set(['describe', 'test', 'it', 'storeTest']);
/** Modifiers of tests that do not run. */
const DISABLED: ReadonlySet<string> = new Set(['skip', 'todo', 'fails']);
/** A placeholder of `each`. */
const PLACEHOLDER = /%[sdifjo#]|\$[A-Za-z_][A-Za-z0-9_.]*/g;

/** The tests of a file. */
export interface TestFile {
  readonly tests: readonly TestTitle[];
  /** All strings, numbers and names in the file, which can replace placeholders. */
  readonly words: ReadonlySet<string>;
}

/** Reads the tests of a file. @param source the text of the file */
export function readTestFile(source: string): TestFile {
  const found: TestTitle[] = [];
  const words = new Set<string>();
  const visit = (node: ts.Node, enclosing: readonly Title[]): void => {
    if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node) || ts.isIdentifier(node)) words.add(node.text);
    const call = ts.isCallExpression(node) ? declarationOf(node) : null;
    if (call?.isDisabled) return;
    const titles = call === null ? enclosing : [...enclosing, call.title];
    if (call !== null && call.root !== 'describe') found.push(joined(titles));
    ts.forEachChild(node, (child) => visit(child, titles));
  };
  visit(ts.createSourceFile('file.ts', source, ts.ScriptTarget.Latest, true), []);
  return { tests: found, words };
}

interface Title {
  readonly text: string;
  /** The source of a regular expression. */
  readonly pattern: string;
}

interface Declaration {
  readonly root: string;
  readonly isDisabled: boolean;
  readonly title: Title;
}

/** Returns the declaration of a call such as `test('...', () => {})` or `describe.each(...)('...', () => {})`, or `null`. */
function declarationOf({ expression, arguments: given }: ts.CallExpression): Declaration | null {
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
  return { root: callee.text, isDisabled: words.some((word) => DISABLED.has(word)), title: titleOf(first) };
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
