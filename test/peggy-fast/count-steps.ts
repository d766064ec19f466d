/** Measures the work of generated parsers in steps, independent of how they read the text: counters in their code. */
import { type Node, parse } from 'acorn';
import type peggy from 'peggy';
import type { Steps } from '../helpers/steps.js';
import { evaluate, generate, type ParseOptions, type Parser, type Source } from './agreement.js';

/** Methods whose work is proportional to the text that they return. */
const COPYING = new Set(['charAt', 'concat', 'join', 'repeat', 'replace', 'slice', 'substr', 'substring']);

/** The global variable that counts. */
const COUNTER = 'countedSteps';
const counter = globalThis as unknown as Record<typeof COUNTER, { steps: number; text: <T>(text: T) => T }>;

counter[COUNTER] = {
  steps: 0,
  text(text) {
    if (typeof text === 'string') this.steps += text.length;
    return text;
  },
};

/** A parser whose functions and loops count, and the number of its steps for a text, including its error messages. */
export function countingParser(
  sources: readonly Source[],
  build: peggy.ParserBuildOptions,
): { readonly parser: Parser; readonly stepsWith: (options: ParseOptions) => Steps } {
  const parser = evaluate(withCounters(generate(sources, build)));
  const stepsWith =
    (options: ParseOptions): Steps =>
    (text) => {
      counter[COUNTER].steps = 0;
      try {
        parser.parse(text, options);
      } catch (thrown) {
        if (!(thrown instanceof parser.SyntaxError)) throw thrown;
        // The details of an error may be computed when they are first read.
        void [thrown.message, thrown.location, thrown.expected, thrown.found];
      }
      return counter[COUNTER].steps;
    };
  return { parser, stepsWith };
}

/** Puts a counter at the beginning of each function and each round of a loop, and around calls that copy texts. */
export function withCounters(code: string): string {
  const openers: Insertion[] = [];
  const closers: Insertion[] = [];
  const count = `${COUNTER}.steps++;`;
  const counted = (body: Node): void => {
    if (body.type === 'BlockStatement') openers.push({ at: body.start + 1, text: count });
    else {
      openers.push({ at: body.start, text: `{${count}` });
      closers.push({ at: body.end, text: '}' });
    }
  };
  walk(parse(code, { ecmaVersion: 'latest', sourceType: 'script' }), (node) => {
    const { body, callee } = node as Node & {
      readonly body?: Node;
      readonly callee?: Node & { readonly property?: Node };
    };
    if (/^(For|While|DoWhile)/.test(node.type)) counted(body!);
    // An arrow function without a block does only the work of its calls.
    else if (/Function/.test(node.type) && body!.type === 'BlockStatement') counted(body!);
    else if (node.type === 'CallExpression' && COPYING.has((callee?.property as { name?: string })?.name ?? '')) {
      openers.push({ at: node.start, text: `${COUNTER}.text(` });
      closers.push({ at: node.end, text: ')' });
    }
  });
  return inserted(code, openers, closers);
}

interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** Outer pieces of code come first in both lists. At one place, closing code comes before opening code. */
function inserted(code: string, openers: readonly Insertion[], closers: readonly Insertion[]): string {
  const all = [...openers, ...closers.toReversed()].map((insertion, order) => ({ ...insertion, order }));
  const isCloser = ({ order }: { readonly order: number }): boolean => order >= openers.length;
  all.sort((a, b) => a.at - b.at || Number(isCloser(b)) - Number(isCloser(a)) || a.order - b.order);
  let from = 0;
  const pieces: string[] = [];
  for (const { at, text } of all) {
    pieces.push(code.slice(from, at), text);
    from = at;
  }
  return pieces.join('') + code.slice(from);
}

function walk(value: unknown, visit: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value && typeof value.type === 'string' && 'start' in value) visit(value as Node);
  for (const child of Object.values(value)) walk(child, visit);
}
