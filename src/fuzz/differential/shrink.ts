import type { Derivation, Grammar } from '../grammar/grammar.js';

/** The options of {@link shrinkText}. */
export interface ShrinkOptions {
  /** Returns `true` if a text still shows the behavior. Called for several texts at once. */
  readonly reproduces: (text: string) => Promise<boolean>;
  /** The grammar, along whose structure parts of valid texts are removed. */
  readonly grammar: Grammar;
  /** The maximum number of texts that are tried. @default 8000 */
  readonly maxAttempts?: number | undefined;
  /**
   * The number of texts that are tried at once. The result does not depend on it, since the first text that reproduces
   * is taken. A low number wastes fewer attempts if each reproduction is slow. @default 16
   */
  readonly concurrency?: number | undefined;
  /** Called before each try. If it returns `true`, the smallest text so far is returned. @default never */
  readonly shouldStop?: (() => boolean) | undefined;
}

/** Lengths of the runs that are removed: of characters, half of the text down to this length; then of tokens; then of characters again. */
const SHORTEST_HALF = 16;
const TOKENS = [12, 8, 7, 6, 5, 4, 3, 2, 1];
const SHORT = [4, 3, 2, 1];

/** A word, or any other character on its own. */
const TOKEN = /[A-Za-z0-9_]+|[\s\S]/g;

/** The shortest part that is removed along the structure, in code units. Smaller ones would take too long. */
const SMALLEST_PART = 2;

const MAX_UNWRAPPED = 12;

/** Replacements for letters, digits and all other characters, the plainest first. */
const PLAIN = ['a', '0'];

/**
 * Shrinks a text while it still shows a behavior, by removing parts, unwrapping brackets and replacing names with plain
 * ones.
 *
 * @returns the smallest text found; the original one if no smaller text reproduces
 * @example
 * await shrinkText('key:some value', { grammar, reproduces: async (text) => text.includes(':') }); // ':'
 */
export async function shrinkText(text: string, options: ShrinkOptions): Promise<string> {
  const { reproduces, grammar, maxAttempts = 8_000, concurrency = 16, shouldStop = () => false } = options;
  let current = text;
  let attempts = 0;
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
      if (attempts >= maxAttempts || shouldStop()) return false;
      if (tried.has(candidate)) continue;
      tried.add(candidate);
      attempts++;
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

/** Yields simpler variants of a text, the boldest first. They need not be valid. */
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
    // With the separator before or after it.
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

/** Yields the text without a run of parts, for each length and place. Long runs overlap by half. */
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
    for (const end of places.slice(first + 1, first + 1 + MAX_UNWRAPPED)) {
      yield text.slice(0, start) + text.slice(start + 1, end) + text.slice(end + 1);
    }
  }
}

/** Replaces all occurrences of a repeated word at once: the repetition itself may be the cause. */
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

/** Replaces all occurrences of a repeated letter or digit at once. */
function* alike(text: string): Generator<string> {
  const units: readonly string[] = text.match(/[A-Za-z0-9_]/g) ?? [];
  for (const unit of new Set(units.filter((one, index) => units.indexOf(one) < index))) {
    for (const plain of PLAIN.slice(0, rankOf(unit))) yield text.replaceAll(unit, plain);
  }
}

/** Replaces short runs with one plain character, then single characters. */
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

/** Ranks a character by how plain it is; 0 is the plainest. */
function rankOf(unit: string): number {
  const rank = PLAIN.indexOf(unit);
  return rank < 0 ? PLAIN.length : rank;
}
