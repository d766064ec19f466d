import { codePointName, visibleCodePoint } from './visible.js';

/** What a generated parser says it could have read, in Peggy's terms. */
export interface Expectation {
  readonly type: 'literal' | 'class' | 'any' | 'end' | 'other';
  readonly text?: string;
  readonly description?: string;
}

/** The phrases of a list of expectations: sorted, each once, quoted literals before names. */
export function phrasesOf(expectations: readonly Expectation[]): string[] {
  const phrases = new Set<string>();
  for (const { type, text, description } of expectations) {
    if (type === 'literal') phrases.add(`"${text}"`);
    else if (type === 'other') phrases.add(description!);
    else if (type === 'end') phrases.add('end of input');
  }
  return [...phrases].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

function rank(phrase: string): number {
  if (phrase.startsWith('"')) return 0;
  return phrase === 'end of input' ? 2 : 1;
}

/** The character at `offset` as a string (a whole code point), or `null` at the end. */
export function characterAt(text: string, offset: number): string | null {
  const code = text.codePointAt(offset);
  return code === undefined ? null : String.fromCodePoint(code);
}

/** `Expected "|", "}" or text, found ":".` */
export function expectedButFound(expected: readonly string[], found: string | null): string {
  return `Expected ${oneOf(expected)}, found ${nameOf(found)}.`;
}

/** `a, b or c` */
export function oneOf(phrases: readonly string[]): string {
  if (phrases.length <= 1) return phrases[0] ?? 'something else';
  return `${phrases.slice(0, -1).join(', ')} or ${phrases.at(-1)}`;
}

/** A character in words: quoted, and with its number where its looks do not tell. */
export function nameOf(character: string | null): string {
  if (character === null) return 'end of input';
  if (character === ' ') return 'a space';
  if (character === '\t') return 'a tab';
  if (character === '\n' || character === '\r') return 'a line end';
  const code = character.codePointAt(0)!;
  if (code > 0x20 && code < 0x7f) return `"${character}"`;
  const shown = visibleCodePoint(code);
  return shown === character ? `"${character}" (${codePointName(code)})` : codePointName(code);
}
