/** The work that a parser does, counted in steps and not in time, so that it can be compared between sizes of texts. */
import { readFileSync } from 'node:fs';
import { type Node, parse as parseModule } from 'acorn';
import peggy from 'peggy';
import { expect } from 'vitest';
import * as aacp from '../../generated/aacp.js';
import * as accp from '../../generated/accp.js';

/** What the generated parsers take: any of the options of their grammars. */
type Parse = (text: string, options: Readonly<Record<string, unknown>>) => unknown;

/** How many steps a parser takes for a text, whether it accepts it or not. */
export type Steps = (text: string) => number;

/** A module with counters in its code. */
interface CountingModule {
  readonly [name: string]: unknown;
  /** The steps since it was last asked. */
  readonly takeSteps: () => number;
}

/** Methods that take work in proportion to the text that they give. */
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

/** The generated parsers, and the same with counters. */
const PARSERS = [
  { original: accp, counting: await countingModule('accp') },
  { original: aacp, counting: await countingModule('aacp') },
] as const;

/**
 * Functions that a generated parser enters, rounds of its loops, and characters that it copies. A refused text is gone through
 * once more when somebody asks what was expected: then the longer one of the two counts.
 *
 * @param parse a function that the module of a generated parser exports
 */
export function charactersRead(parse: Parse, options: Readonly<Record<string, unknown>>): Steps {
  const { counted, takeSteps } = counterpart(parse);
  return (text) => {
    takeSteps();
    const refusal = refusalOf(() => counted(text, options));
    const read = takeSteps();
    expect(refusal?.message).not.toBe('');
    expect(refusal?.expected).not.toEqual([]);
    return Math.max(read, takeSteps());
  };
}

function counterpart(parse: Parse): { readonly counted: Parse; readonly takeSteps: () => number } {
  for (const { original, counting } of PARSERS) {
    const [name] = Object.entries(original).find(([, exported]) => exported === parse) ?? [];
    if (name !== undefined) return { counted: counting[name] as Parse, takeSteps: counting.takeSteps };
  }
  throw new TypeError('steps are counted in the generated parsers only');
}

/** Rules that a parser enters, matches or fails at. Peggy tells of them only in parsers built for tracing. */
export function rulesTried(grammar: string, options: Readonly<Record<string, unknown>>): Steps {
  const source = readFileSync(new URL(`../../grammar/${grammar}.peggy`, import.meta.url), 'utf8');
  const { parse } = peggy.generate(source, { trace: true });
  return (text) => {
    let steps = 0;
    const tracer = { trace: () => steps++ };
    // A refusal takes work as well.
    refusalOf(() => parse(text, { ...options, tracer }));
    return steps;
  };
}

/** The error of a parser that refuses a text; anything else that it throws is a defect. */
function refusalOf(parse: () => unknown): peggy.parser.SyntaxError | undefined {
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

/** A module of its own, without imports of packages or files, with counters in its code. */
export function withSteps(code: string): Promise<CountingModule> {
  return import(`data:text/javascript,${encodeURIComponent(withCounters(code))}`) as Promise<CountingModule>;
}

/** The code of a module with a counter at the beginning of each function and of each round of a loop, and around what copies texts. */
function withCounters(code: string): string {
  const before = new Map<number, string>();
  const after = new Map<number, string>();
  // Outer pieces of code come first: they open before, and close behind, those inside.
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

/** At one place, what closes stands before what opens. */
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

/** Calls back for a node and all nodes inside, outer ones first. */
function visit(value: unknown, each: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value && 'start' in value) each(value as Node);
  for (const child of Object.values(value)) visit(child, each);
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
