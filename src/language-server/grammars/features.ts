/** Answers to the questions of an editor about a grammar. */
import peggy from 'peggy';
import { type Fix, suggestedWord } from '../../text/fix.js';
import type { Span } from '../../text/span.js';
import { quotedShort } from '../../text/visible.js';
import {
  asCode,
  asText,
  type ColoredSpan,
  type Completion,
  type Finding,
  type Hover,
  type Outline,
  type TokenType,
  wordAt,
} from '../language.js';
import type { Grammar, RuleName } from './grammar.js';
import type { Mark } from './segments.js';

/** The most lines of a rule that a hover shows. */
const MAX_LINES = 30;

/** Returns the name of a rule at an offset. */
export function ruleAt({ names }: Grammar, offset: number): RuleName | undefined {
  return names.find(({ start, end }) => start <= offset && offset <= end);
}

export function definitionsOf({ names }: Grammar, name: string): readonly RuleName[] {
  return names.filter((one) => one.isDefinition && one.name === name);
}

export function usesOf({ names }: Grammar, name: string): readonly RuleName[] {
  return names.filter((one) => !one.isDefinition && one.name === name);
}

/** Returns the reason why a rule cannot have a name; `null` if it can. */
export function whyNotName(grammar: Grammar, name: string): string | null {
  // Peggy reads "$" at the beginning as an operator.
  if (!/^[\p{ID_Start}_][\p{ID_Continue}$\u200c\u200d]*$/u.test(name)) {
    return `${quotedShort(name)} is not the name of a rule: begin with a letter or "_", then use letters, digits, "_" and "$"`;
  }
  if (peggy.RESERVED_WORDS.includes(name)) return `${quotedShort(name)} is a reserved word of JavaScript`;
  return definitionsOf(grammar, name).length > 0 ? `the grammar already has a rule ${quotedShort(name)}` : null;
}

export function ruleHover(grammar: Grammar, offset: number): Hover | null {
  const at = ruleAt(grammar, offset);
  if (at === undefined) return null;
  const segment = grammar.segments.find(({ name }) => name === at.name);
  if (segment === undefined) return { span: at, text: `${asCode(at.name)} is not defined.` };
  const uses = usesOf(grammar, at.name).length;
  const lines = withoutNextComment(segment.text, segment.marks).split(/\r?\n/);
  const shown = lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), '// ...'] : lines;
  const comment = commentBefore(grammar, segment.start);
  const parts = [
    `\`\`\`\`peggy\n${shown.join('\n')}\n\`\`\`\``,
    ...(comment === '' ? [] : [asText(comment)]),
    uses === 0 ? 'Not used in this grammar.' : `Used ${uses === 1 ? 'once' : `${uses} times`} in this grammar.`,
  ];
  return { span: at, text: parts.join('\n\n') };
}

/** Returns the text of a rule without the comment of the next one. */
function withoutNextComment(text: string, marks: readonly Mark[]): string {
  const last = marks.findLast(({ type }) => type !== 'comment');
  return text.slice(0, last?.end ?? text.length).trimEnd();
}

/** Returns the text of the comment right above a rule. */
function commentBefore({ segments }: Grammar, start: number): string {
  const before = segments.findLast((segment) => segment.start < start);
  if (before === undefined) return '';
  const after = before.text.slice(before.marks.findLast(({ type }) => type !== 'comment')?.end ?? 0);
  const block =
    after
      .trimEnd()
      .split(/\r?\n[ \t]*\r?\n/)
      .at(-1) ?? '';
  return block
    .split(/\r?\n/)
    .map((line) => line.replace(/^\s*(?:\/\/ ?|\/\*+ ?|\*\/|\* ?)/, '').replace(/\s*\*\/\s*$/, ''))
    .join('\n')
    .trim();
}

export function completeRule(grammar: Grammar, text: string, offset: number): Completion | null {
  const segment = grammar.segments.findLast(({ start }) => start <= offset);
  const local = offset - (segment?.start ?? 0);
  const inside = segment?.marks.some(
    ({ type, start, end }) =>
      start < local && (local < end || (type === 'comment' && local === end)) && OPAQUE.has(type),
  );
  // The first name of a line begins a rule.
  if (inside || segment === undefined || segment.name === null) return null;
  const span = wordAt(text, offset, /[\w$]/);
  const rules = grammar.segments.flatMap((one) => {
    if (one.name === null) return [];
    const definition = withoutNextComment(one.text, one.marks).slice(one.name.length).replace(/\s+/g, ' ').trim();
    return [{ word: one.name, kind: 'rule' as const, detail: definition.slice(0, 60) }];
  });
  return { span, words: rules };
}

const OPAQUE: ReadonlySet<Mark['type']> = new Set(['comment', 'string', 'class', 'code']);

export function grammarColors({ segments }: Grammar, text: string): readonly ColoredSpan[] {
  return segments.flatMap(({ start, marks, name }) =>
    marks.flatMap((mark): readonly ColoredSpan[] => {
      const type = COLORS[mark.type];
      if (type === undefined || (name === null && mark.type !== 'comment')) return [];
      const modifier = mark.type === 'definition' ? ({ modifier: 'declaration' } as const) : {};
      return byLine({ start: start + mark.start, end: start + mark.end }, text).map((span) => ({
        ...span,
        type,
        ...modifier,
      }));
    }),
  );
}

const COLORS: Readonly<Partial<Record<Mark['type'], TokenType>>> = {
  comment: 'comment',
  string: 'string',
  class: 'regexp',
  definition: 'function',
  reference: 'function',
  label: 'parameter',
  operator: 'operator',
};

/** Tokens may not span lines. */
function byLine({ start, end }: Span, text: string): readonly Span[] {
  const spans: Span[] = [];
  let from = start;
  for (const line of text.slice(start, end).split('\n')) {
    const length = line.endsWith('\r') ? line.length - 1 : line.length;
    if (length > 0) spans.push({ start: from, end: from + length });
    from += line.length + 1;
  }
  return spans;
}

export function grammarOutline({ segments }: Grammar): readonly Outline[] {
  return segments.flatMap(({ name, start, text, marks }): readonly Outline[] => {
    if (name === null) {
      return marks
        .filter(({ type }) => type === 'code')
        .map((mark) => {
          const span = { start: start + mark.start, end: start + mark.end };
          const isTop = text.startsWith('{{', mark.start);
          return {
            name: isTop ? 'top-level initializer' : 'initializer',
            detail: '',
            kind: 'code',
            span,
            selection: span,
            children: [],
          };
        });
    }
    const end = start + withoutNextComment(text, marks).length;
    const label = marks.find(({ type }) => type !== 'comment' && type !== 'definition');
    const detail = label?.type === 'string' ? text.slice(label.start + 1, label.end - 1) : '';
    const selection = { start, end: start + name.length };
    return [{ name, detail, kind: 'rule', span: { start, end }, selection, children: [] }];
  });
}

/** Returns the quick fixes of a finding about a grammar. */
export function grammarFixes(grammar: Grammar, text: string, finding: Finding): readonly Fix[] {
  const { code, span } = finding;
  const word = suggestedWord(finding);
  const fixes: Fix[] = word === undefined ? [] : [{ title: `Replace with ${quotedShort(word)}`, span, text: word }];
  if (code === 'undefined-rule') {
    const name = text.slice(span.start, span.end);
    const end = text.includes('\r\n') ? '\r\n' : '\n';
    const gap = text.endsWith('\n') ? end : end + end;
    fixes.push({
      title: `Add a rule ${quotedShort(name)}`,
      span: { start: text.length, end: text.length },
      text: `${gap}${name}${end}  = ""${end}`,
    });
  }
  const segment = code === 'unused-rule' ? grammar.segments.find(({ start }) => start === span.start) : undefined;
  if (segment !== undefined) {
    const end = segment.start + withoutNextComment(segment.text, segment.marks).length;
    fixes.push({
      title: `Remove the rule ${quotedShort(segment.name!)}`,
      span: { start: segment.start, end: Math.min(text.length, endOfBlank(text, end)) },
      text: '',
    });
  }
  return fixes;
}

/** Returns the end of the white space after an offset: that of the line, and one blank line. */
function endOfBlank(text: string, at: number): number {
  return at + (/^[ \t]*(?:\r?\n){0,2}/.exec(text.slice(at))?.[0].length ?? 0);
}
