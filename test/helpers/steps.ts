/** The work that a parser does, counted in steps and not in time, so that it can be compared between sizes of texts. */
import { readFileSync } from 'node:fs';
import peggy from 'peggy';
import { expect } from 'vitest';

/** What the generated parsers take: any of the options of their grammars. */
type Parse = (text: string, options: Readonly<Record<string, unknown>>) => unknown;

/** How many steps a parser takes for a text, whether it accepts it or not. */
export type Steps = (text: string) => number;

/** A text that counts how often a character of it is looked at, by any of the methods that the parsers use. */
class CountingText extends String {
  readonly #text: string;
  reads = 0;

  constructor(text: string) {
    super(text);
    this.#text = text;
  }

  override charAt(at: number): string {
    this.reads++;
    return this.#text.charAt(at);
  }

  override charCodeAt(at: number): number {
    this.reads++;
    return this.#text.charCodeAt(at);
  }

  override substring(start: number, end: number): string {
    this.reads += end - start;
    return this.#text.substring(start, end);
  }

  override substr(start: number, length: number): string {
    this.reads += length;
    return this.#text.substring(start, start + length);
  }
}

/** Characters that a parser looks at or copies. */
export function charactersRead(parse: Parse, options: Readonly<Record<string, unknown>>): Steps {
  return (text) => {
    const counting = new CountingText(text);
    ignoreErrors(() => parse(counting as unknown as string, options));
    return counting.reads;
  };
}

/** Rules that a parser enters, matches or fails at. Peggy tells of them only in parsers built for tracing. */
export function rulesTried(grammar: string, options: Readonly<Record<string, unknown>>): Steps {
  const source = readFileSync(new URL(`../../grammar/${grammar}.peggy`, import.meta.url), 'utf8');
  const { parse } = peggy.generate(source, { trace: true });
  return (text) => {
    let steps = 0;
    const tracer = { trace: () => steps++ };
    ignoreErrors(() => parse(text, { ...options, tracer }));
    return steps;
  };
}

function ignoreErrors(parse: () => unknown): void {
  try {
    parse();
  } catch (thrown) {
    // A refusal takes work as well; anything else is a defect of the parser.
    if ((thrown as Error).name !== 'SyntaxError') throw thrown;
  }
}

/** Holds that ten times the text takes at most about ten times the steps, and no text more than `most` a character. */
export function expectLinear(
  steps: Steps,
  textOf: (length: number) => string,
  lengths: readonly number[],
  most: number,
): void {
  const counts = lengths.map((length) => {
    const text = textOf(length);
    const count = steps(text);
    expect(count).toBeGreaterThan(0);
    expect(count / text.length).toBeLessThanOrEqual(most);
    return count;
  });
  for (let at = 1; at < counts.length; at++) expect(counts[at]! / counts[at - 1]!).toBeLessThanOrEqual(10.5);
}

/** Texts of about a length asked for, made of many pieces. */
export function filled(
  before: string,
  piece: string | ((index: number) => string),
  after = '',
): (length: number) => string {
  return (length) => {
    const pieces: string[] = [];
    for (let size = 0; size < length; size += pieces.at(-1)!.length) {
      pieces.push(typeof piece === 'string' ? piece : piece(pieces.length));
    }
    return before + pieces.join('') + after;
  };
}
