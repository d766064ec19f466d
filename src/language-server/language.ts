/** The values that the parts of the server pass to each other. All spans are offsets in the text that a function is given. */
import type { Severity } from '../text/diagnostic.js';
import type { Span } from '../text/span.js';

/** A problem in a text, or advice on it. */
export interface Finding {
  readonly code: string;
  /** Hints are shown as fainter text, if at all. */
  readonly severity: Severity | 'information' | 'hint';
  readonly message: string;
  readonly span: Span;
  readonly help?: string | undefined;
  /** The section of the specification. */
  readonly section?: string | undefined;
  readonly related?: readonly Span[] | undefined;
}

/** The types of semantic tokens, in the order of the legend. All are standard types of the protocol. */
export const TOKEN_TYPES = [
  'namespace',
  'keyword',
  'function',
  'property',
  'parameter',
  'string',
  'number',
  'enumMember',
  'variable',
  'regexp',
  'comment',
  'operator',
  'type',
] as const;

export type TokenType = (typeof TOKEN_TYPES)[number];

/** The modifiers of semantic tokens, in the order of the legend. */
export const TOKEN_MODIFIERS = ['declaration'] as const;

/** A coloured part of a text, on one line. */
export interface ColoredSpan extends Span {
  readonly type: TokenType;
  readonly modifier?: (typeof TOKEN_MODIFIERS)[number];
}

export interface Hover {
  readonly span: Span;
  /** Markdown. */
  readonly text: string;
}

/** The words that the cursor can be completed with. */
export interface Completion {
  /** The word under the cursor, which is replaced. */
  readonly span: Span;
  readonly words: readonly CompletionWord[];
}

export interface CompletionWord {
  readonly word: string;
  readonly kind: 'agent' | 'keyword' | 'operation' | 'key' | 'value' | 'reference' | 'rule';
  readonly detail?: string | undefined;
  /** Text inserted after the word. */
  readonly suffix?: string | undefined;
}

/** An entry of a document's outline. */
export interface Outline {
  readonly name: string;
  readonly detail: string;
  readonly kind: 'message' | 'key' | 'rule' | 'code';
  readonly span: Span;
  /** The part that is selected. */
  readonly selection: Span;
  readonly children: readonly Outline[];
}

/** Names that the messages of a document contain, for completion. */
export interface SeenWords {
  readonly agents: ReadonlySet<string>;
  readonly operations: ReadonlySet<string>;
  readonly ids: ReadonlySet<string>;
  readonly references: ReadonlySet<string>;
}

/** Writes Markdown that shows a text as code on one line. */
export function asCode(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${text.replace(/[\r\n]+/g, ' ')}${pad}${fence}`;
}

/** Writes Markdown that shows a text as it is. */
export function asText(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|~$]/g, '\\$&');
}

/** Returns the span of the word around an offset. */
export function wordAt(text: string, offset: number, characters: RegExp): Span {
  let start = offset;
  while (start > 0 && characters.test(text[start - 1]!)) start--;
  let end = offset;
  while (end < text.length && characters.test(text[end]!)) end++;
  return { start, end };
}
