/** The work of a parser, counted in steps instead of time, to compare texts of different sizes. */
import { readFileSync } from 'node:fs';
import { type Node, parse as parseModule } from 'acorn';
import peggy from 'peggy';
import { expect } from 'vitest';
import * as aacp from '../../generated/aacp.js';
import * as accp from '../../generated/accp.js';

/** The function of a generated parser, with the options of any grammar. */
type Parse = (text: string, options: Readonly<Record<string, unknown>>) => unknown;

/** A function that returns the number of steps of a parser for a text, valid or not. */
export type Steps = (text: string) => number;

/** A module with added counters. */
interface CountingModule {
  readonly [name: string]: unknown;
  /** Returns the steps since the last call. */
  readonly takeSteps: () => number;
}

/** Methods that take time proportional to the length of their result. */
const COPYING = new Set(['charAt', 'concat', 'join', 'repeat', 'replace', 'slice', 'substr', 'substring']);

const COUNTER = `
let countedSteps = 0;
function countedText(copy) {
  countedSteps += copy.length;
  return copy;
}
export function takeSteps() {
  const taken = countedSteps;
  countedSteps = 0;
  return taken;
}
`;

/** The generated parsers, and their copies with counters. */
const PARSERS = [
  { original: accp, counting: await countingModule('accp') },
  { original: aacp, counting: await countingModule('aacp') },
] as const;

/**
 * Counts the function calls, loop iterations and copied characters of a generated parser. Reading `expected` of an error parses the text again;
 * then the larger count is returned.
 *
 * @param parse a function that the module of a generated parser exports
 */
export function charactersRead(parse: Parse, options: Readonly<Record<string, unknown>>): Steps {
  const { counted, takeSteps } = counterpart(parse);
  return (text) => {
    takeSteps();
    const error = syntaxErrorOf(() => counted(text, options));
    const read = takeSteps();
    expect(error?.message).not.toBe('');
    expect(error?.expected).not.toEqual([]);
    return Math.max(read, takeSteps());
  };
}

function counterpart(parse: Parse): { readonly counted: Parse; readonly takeSteps: () => number } {
  for (const { original, counting } of PARSERS) {
    const [name] = Object.entries(original).find(([, exported]) => exported === parse) ?? [];
    if (name !== undefined) return { counted: counting[name] as Parse, takeSteps: counting.takeSteps };
  }
  throw new TypeError('only generated parsers can be counted');
}

/** Counts the rules that a parser enters, matches or fails. Peggy traces them only in parsers built for it. */
export function rulesTried(grammar: string, options: Readonly<Record<string, unknown>>): Steps {
  const source = readFileSync(new URL(`../../grammar/${grammar}.peggy`, import.meta.url), 'utf8');
  const { parse } = peggy.generate(source, { trace: true });
  return (text) => {
    let steps = 0;
    const tracer = { trace: () => steps++ };
    // Rejecting a text takes work, too.
    syntaxErrorOf(() => parse(text, { ...options, tracer }));
    return steps;
  };
}

/** Returns the syntax error of a parser, or `undefined`; anything else that it throws is a defect. */
function syntaxErrorOf(parse: () => unknown): peggy.parser.SyntaxError | undefined {
  try {
    parse();
  } catch (thrown) {
    if ((thrown as Error).name !== 'SyntaxError') throw thrown;
    return thrown as peggy.parser.SyntaxError;
  }
  return undefined;
}

async function countingModule(name: string): Promise<CountingModule> {
  return withSteps(readFileSync(new URL(`../../generated/${name}.js`, import.meta.url), 'utf8'));
}

/** Imports a module with added counters. It must not import packages or files. */
export function withSteps(code: string): Promise<CountingModule> {
  return import(`data:text/javascript,${encodeURIComponent(withCounters(code))}`) as Promise<CountingModule>;
}

/** Adds counters to the code of a module: to each function, each loop iteration, and each call that copies text. */
function withCounters(code: string): string {
  const before = new Map<number, string>();
  const after = new Map<number, string>();
  // Outer nodes come first: they open before the inner ones, and close after them.
  const wrap = ({ start, end }: Node, opening: string, closing: string): void => {
    before.set(start, (before.get(start) ?? '') + opening);
    after.set(end, closing + (after.get(end) ?? ''));
  };
  visit(parseModule(code, { ecmaVersion: 'latest', sourceType: 'module' }), (node) => {
    const { type, body, callee } = node as Node & { readonly body?: Node; readonly callee?: Callee };
    const isLoop = /^(?:For|While|DoWhile)/.test(type);
    if (isLoop || /Function/.test(type)) {
      if (body!.type === 'BlockStatement') before.set(body!.start + 1, 'countedSteps++;');
      else if (isLoop) wrap(body!, '{countedSteps++;', '}');
      else wrap(body!, '(countedSteps++,', ')');
    } else if (type === 'CallExpression' && COPYING.has(callee?.property?.name ?? '')) {
      wrap(node, 'countedText(', ')');
    }
  });
  return COUNTER + inserted(code, before, after);
}

interface Callee {
  readonly property?: { readonly name?: string };
}

/** Inserts code; at one position, closing code precedes opening code. */
function inserted(code: string, before: ReadonlyMap<number, string>, after: ReadonlyMap<number, string>): string {
  const places = [...new Set([...before.keys(), ...after.keys()])].sort((a, b) => a - b);
  let from = 0;
  const pieces: string[] = [];
  for (const place of places) {
    pieces.push(code.slice(from, place), after.get(place) ?? '', before.get(place) ?? '');
    from = place;
  }
  return pieces.join('') + code.slice(from);
}

/** Calls a function for a node and its descendants, outer ones first. */
function visit(value: unknown, each: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value && 'start' in value) each(value as Node);
  for (const child of Object.values(value)) visit(child, each);
}

/** Expects that ten times the text takes at most about ten times the steps, and no text more than `most` steps per character. */
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

/** Returns a function that creates texts of about a given length from repeated pieces. */
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
