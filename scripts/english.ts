/**
 * Refuses words and phrases that the documentation avoids, in Markdown, comments, messages, help texts and test names, and doc comments that begin
 * with a question word. Names each place with the word to use instead.
 *
 *     npx tsx scripts/english.ts [PATH...]
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../', import.meta.url));

const PHRASES: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\btold\b/i, 'reported, printed, passed'],
  [/\bsaid\b/i, 'reported, returned, sent'],
  [/(?<!\bthere |\bthis |\bthat )\bis no\b(?! longer| more)/i, 'is not a, is invalid, has no'],
  [/\bthat (?:are|is) none\b/i, 'invalid'],
  [/\bwho(?:m)?ever\b/i, 'a caller that'],
  [/\b(?:some|no|any)body(?:’s|'s)?\b/i, 'a client, a caller, no client'],
  [/\b(?:held|holds?) (?:\w+ )?against\b/i, 'compared with'],
  [/\bwhat is it that\b/i, 'the noun'],
  [/\bfrom -?\d+ on\b/i, 'at least'],
  [/\b(?:one|each|documents?|messages?|frames?|packets?|sentences?|texts?|entry|result) a line\b/i, 'one per line'],
  [/\bverdict (?:a|each) case\b/i, 'one result per case'],
  [/\bparted by\b/i, 'separated by'],
  [/\b(?:goes|go|going|went|gone) on\b/i, 'continue'],
  [/\bat fault\b/i, 'failed, is wrong'],
  [/\bgone wrong\b|\bgoes wrong\b/i, 'fails'],
];

const OPENING = /^(?:What|Where|Whether|Who|How)\b/;

/** Data that users type or that a specification fixes. */
const DATA = [
  /^scripts\/english\.ts$/,
  /^src\/aacp\/rules\/bundled\//,
  /^(?:bench|test)\/.*(?:corpus|fixtures)\//,
  /^generated\//,
  /^test\/conformance\/.*\.json$/,
];

const isJsDoc = ({ kind }: ts.Node) => kind >= ts.SyntaxKind.FirstJSDocNode && kind <= ts.SyntaxKind.LastJSDocNode;

interface Passage {
  readonly start: number;
  readonly text: string;
}

/** Comments of a TypeScript file, and its strings; of a test only those that name it. */
function passagesOf(file: string, text: string): Passage[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Passage[] = [];
  const inTests = file.startsWith('test/');
  const isTitle = (node: ts.Node) =>
    ts.isCallExpression(node.parent) &&
    node.parent.arguments[0] === node &&
    /^(?:test|it|describe)\b/.test(node.parent.expression.getText(source));
  const visit = (node: ts.Node): void => {
    if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddle(node) ||
      ts.isTemplateTail(node)
    ) {
      const titled = ts.isStringLiteralLike(node) ? node : node.parent;
      if (!inTests || isTitle(titled)) found.push({ start: node.getStart(source), text: node.text });
    }
    const children = ts.isImportDeclaration(node) ? [] : node.getChildren(source).filter((child) => !isJsDoc(child));
    for (const child of children) visit(child);
    if (children.length > 0) return;
    for (const { pos, end } of [
      ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ])
      found.push({ start: pos, text: text.slice(pos, end) });
  };
  visit(source);
  return found;
}

/** Blanks out the code of a Markdown text, so that places stay. Output, in blocks marked as text, is checked. */
function prose(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$|`[^`\n]*`|<!--[\s\S]*?-->|\]\([^)]*\)/gm, (code) =>
    code.startsWith('```text') ? code : code.replaceAll(/[^\n]/g, ' '),
  );
}

function read(file: string): Passage[] {
  const text = readFileSync(`${root}${file}`, 'utf8');
  if (/\.[cm]?[jt]s$/.test(file)) return passagesOf(file, text);
  return [{ start: 0, text: file.endsWith('.md') ? prose(text) : text }];
}

const paths = process.argv.slice(2);
const files = execFileSync('git', ['ls-files', '--', ...(paths.length > 0 ? paths : ['.'])], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.(?:md|[cm]?[jt]s|peggy|ohm|abnf|yml)$/.test(file) && !DATA.some((data) => data.test(file)));

let count = 0;
for (const file of files) {
  const whole = readFileSync(`${root}${file}`, 'utf8');
  const seen = new Set<string>();
  const report = (offset: number, found: string, instead: string): void => {
    const line = whole.slice(0, offset).split('\n').length;
    const message = `${file}:${line}: "${found}": ${instead}`;
    if (seen.has(message)) return;
    seen.add(message);
    count += 1;
    console.error(message);
  };
  for (const { start, text } of read(file)) {
    // Line breaks and the margins of comments count as spaces, one for each character.
    const flat = text.replaceAll(/\n[ \t]*(?:\*(?!\/)|\/\/)?/g, (margin) => ' '.repeat(margin.length));
    const spaced = flat.replaceAll(/ {2,}/g, (run) => ` ${'\u200b'.repeat(run.length - 1)}`);
    for (const [pattern, instead] of PHRASES) {
      const tolerant = new RegExp(pattern.source.replaceAll(' ', ' \u200b*'), `g${pattern.flags}`);
      for (const match of spaced.matchAll(tolerant)) {
        // A quoted word is a name, such as that of a JSON member.
        const isQuoted = spaced[match.index - 1] === '"' && spaced[match.index + match[0].length] === '"';
        if (!isQuoted) report(start + match.index, match[0].replaceAll('\u200b', ''), instead);
      }
    }
    const opening = /^\/\*\*\s*(.*)/.exec(flat)?.[1];
    if (opening !== undefined && OPENING.test(opening))
      report(start, opening.slice(0, 30), 'begin with a verb or a noun');
  }
}
if (count > 0) {
  console.error(`${count} places. The words to use are in CONTRIBUTING.md, "English".`);
  process.exitCode = 1;
}
