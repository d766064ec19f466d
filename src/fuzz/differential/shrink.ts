import type { Derivation, Grammar } from '../grammar/grammar.js';

export interface ShrinkOptions {
  /** Returns whether a text shows the same disagreement. Called for several texts at once. */
  readonly reproduces: (text: string) => Promise<boolean>;
  /** Parts of valid texts are cut along their structure. */
  readonly grammar: Grammar;
  /** Texts that are tried at most. @default 8000 */
  readonly maxTries?: number | undefined;
  /**
   * Texts that are asked about at once. The first that holds is taken, so that the result does not depend on their number; a low
   * one asks fewer in vain where each that holds takes long. @default 16
   */
  readonly concurrency?: number | undefined;
  /** Asked before each try: what was found until then is enough. @default never */
  readonly shouldStop?: (() => boolean) | undefined;
}

/** Of runs that are left out: of characters, half of the text and so on down to this; of tokens; and of what characters are left. */
const SHORTEST_HALF = 16;
const TOKENS = [12, 8, 7, 6, 5, 4, 3, 2, 1];
const SHORT = [4, 3, 2, 1];

/** Words, and all other characters by themselves. */
const TOKEN = /[A-Za-z0-9_]+|[\s\S]/g;

/** Code units of parts that are cut along the structure: character by character, that would never end. */
const SMALLEST_PART = 2;

const REACH = 12;

/** What letters, digits and all else are tried to be replaced by. */
const PLAIN = ['a', '0'];

/** @returns the smallest text that was found; the given one if no smaller one holds */
export async function shrinkText(text: string, options: ShrinkOptions): Promise<string> {
  const { reproduces, grammar, maxTries = 8_000, concurrency = 16, shouldStop = () => false } = options;
  let current = text;
  let tries = 0;
  const tried = new Set([text]);

  const take = (found: string): true => {
    current = found;
    return true;
  };

  const improve = async (candidates: Iterable<string>): Promise<boolean> => {
    let batch: string[] = [];
    const first = async (): Promise<string | undefined> => {
      const results = await Promise.all(batch.map(reproduces));
      const index = results.indexOf(true);
      const found = index < 0 ? undefined : batch[index];
      batch = [];
      return found;
    };
    for (const candidate of candidates) {
      if (tries >= maxTries || shouldStop()) return false;
      if (tried.has(candidate)) continue;
      tried.add(candidate);
      tries++;
      batch.push(candidate);
      const found = batch.length === concurrency ? await first() : undefined;
      if (found !== undefined) return take(found);
    }
    const found = batch.length === 0 ? undefined : await first();
    return found !== undefined && take(found);
  };

  const passes = [() => structural(current, grammar.derive(current)), ...PASSES.map((pass) => () => pass(current))];
  for (let better = true; better; ) {
    better = false;
    for (const pass of passes) while (await improve(pass())) better = true;
  }
  return current;
}

/** Yields simpler texts for a text, the boldest first; valid or not. */
export function* simplifications(text: string, tree: Derivation | null): Generator<string> {
  yield* structural(text, tree);
  for (const pass of PASSES) yield* pass(text);
}

const PASSES: readonly ((text: string) => Iterable<string>)[] = [
  (text) => without(text.split(''), halvesOf(text.length)),
  (text) => without(text.match(TOKEN) ?? [], TOKENS),
  unwrapped,
  (text) => without(text.split(''), SHORT),
  renamed,
  alike,
  plainer,
];

function* structural(text: string, tree: Derivation | null): Generator<string> {
  if (tree === null) return;
  const parts: { node: Derivation; inner: Derivation[] }[] = [];
  const visit = (node: Derivation): Derivation[] => {
    const below = node.children.flatMap(visit);
    const inner = below.filter(({ point, start, end }) => point === node.point && end - start < node.end - node.start);
    if (node.end - node.start >= SMALLEST_PART) parts.push({ node, inner });
    return [node, ...below];
  };
  visit(tree);
  parts.sort((a, b) => b.node.end - b.node.start - (a.node.end - a.node.start));
  for (const { node, inner } of parts) {
    const [before, after] = [text.slice(0, node.start), text.slice(node.end)];
    yield before + after;
    // With the separator before or behind it.
    if (before !== '') yield before.slice(0, -1) + after;
    if (after !== '') yield before + after.slice(1);
    for (const { start, end } of inner) yield before + text.slice(start, end) + after;
  }
}

function halvesOf(length: number): readonly number[] {
  const halves: number[] = [];
  for (let half = length >> 1; half >= SHORTEST_HALF; half >>= 1) halves.push(half);
  return halves;
}

/** A text without a run of its parts, of each length, at each place; long runs overlap by half. */
function* without(parts: readonly string[], lengths: readonly number[]): Generator<string> {
  for (const length of lengths) {
    if (length > parts.length) continue;
    const step = length > 8 ? length >> 1 : 1;
    for (let at = 0; at + length <= parts.length; at += step) {
      yield [...parts.slice(0, at), ...parts.slice(at + length)].join('');
    }
  }
}

function* unwrapped(text: string): Generator<string> {
  const places = [...text.matchAll(/[^A-Za-z0-9_]/g)].map(({ index }) => index);
  for (const [first, start] of places.entries()) {
    for (const end of places.slice(first + 1, first + 1 + REACH)) {
      yield text.slice(0, start) + text.slice(start + 1, end) + text.slice(end + 1);
    }
  }
}

/** A word that comes more than once, replaced everywhere at the same time: that it is the same may be the point. */
function* renamed(text: string): Generator<string> {
  const words: readonly string[] = text.match(/[A-Za-z0-9_]+/g) ?? [];
  for (const word of new Set(words.filter((one, index) => words.indexOf(one) < index))) {
    for (const other of [...PLAIN, 'b', word.slice(1), word.slice(0, -1)]) {
      if (other !== '' && other.length < word.length) {
        yield text.replace(new RegExp(`(?<![A-Za-z0-9_])${word}(?![A-Za-z0-9_])`, 'g'), other);
      }
    }
  }
}

/** A letter or digit that comes more than once, replaced everywhere at the same time. */
function* alike(text: string): Generator<string> {
  const units: readonly string[] = text.match(/[A-Za-z0-9_]/g) ?? [];
  for (const unit of new Set(units.filter((one, index) => units.indexOf(one) < index))) {
    for (const plain of PLAIN.slice(0, rankOf(unit))) yield text.replaceAll(unit, plain);
  }
}

/** Short runs replaced by one plain character, then one character after the other. */
function* plainer(text: string): Generator<string> {
  for (const length of [4, 3, 2]) {
    for (let at = 0; at + length <= text.length; at++) {
      for (const plain of PLAIN) yield text.slice(0, at) + plain + text.slice(at + length);
    }
  }
  for (let at = 0; at < text.length; at++) {
    for (const plain of PLAIN.slice(0, rankOf(text[at]!))) yield text.slice(0, at) + plain + text.slice(at + 1);
  }
}

/** How plain a character is; the lowest is the plainest. */
function rankOf(unit: string): number {
  const rank = PLAIN.indexOf(unit);
  return rank < 0 ? PLAIN.length : rank;
}
