/**
 * Feeds random texts to the generated parsers and to the Ohm grammars, and reports where they disagree.
 *
 *     npm run fuzz -- --count 200000 --seed 1
 *
 * The texts are split evenly over both protocols and their dialects. A disagreement is cut down to a smaller text and
 * added to test/fuzz/corpus/found.json, which the tests run from then on. Exit codes: 0 all agree, 1 they do not, 2 wrong
 * usage.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { agree, CORPUS, compare, type Input, LANGUAGES, type Language, texts } from '../test/fuzz/compare.js';
import { shrink } from '../test/fuzz/shrink.js';

/** Texts generated at a time, so that memory does not grow with the count. */
const BATCH = 1_000;
/** Texts between two lines of progress, where nobody watches a terminal. */
const LINE_EVERY = 20_000;
/** Disagreements of one dialect added to the corpus at most; more of them rarely say more. */
const MAX_FOUND = 5;

interface Row {
  readonly language: string;
  readonly accepted: number;
  readonly refused: number;
  readonly disagreements: number;
  /** The first of them, cut down. */
  readonly found: readonly Input[];
}

interface Arguments {
  readonly count: number;
  readonly seed: number;
}

function readArguments(): Arguments | string {
  try {
    const { values } = parseArgs({
      options: {
        count: { type: 'string', default: '200000' },
        seed: { type: 'string', default: String(Date.now() | 0) },
      },
    });
    const count = Number(values.count);
    const seed = Number(values.seed);
    if (!Number.isSafeInteger(count) || count < 1)
      return `--count must be a whole number from 1 on; got ${values.count}`;
    if (!Number.isSafeInteger(seed)) return `--seed must be a whole number; got ${values.seed}`;
    return { count, seed };
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** One language's share of the texts. */
function fuzz(language: Language, count: number, seed: number, tick: (done: number) => void): Row {
  const arbitrary = texts(language);
  let accepted = 0;
  let disagreements = 0;
  const found: Input[] = [];
  for (let done = 0; done < count; done += BATCH) {
    const numRuns = Math.min(BATCH, count - done);
    for (const text of fc.sample(arbitrary, { numRuns, seed: seed + done })) {
      const comparison = compare({ ...language, text });
      if (comparison.oracle !== null) accepted++;
      if (agree(comparison)) continue;
      disagreements++;
      if (found.length === MAX_FOUND) continue;
      const input = smaller({ ...language, text });
      if (found.every((known) => known.text !== input.text)) found.push(input);
    }
    tick(numRuns);
  }
  return { language: nameOf(language), accepted, refused: count - accepted, disagreements, found };
}

function smaller(input: Input): Input {
  return { ...input, text: shrink(input.text, (text) => !agree(compare({ ...input, text }))) };
}

function nameOf({ protocol, dialect }: Language): string {
  return `${protocol} ${dialect}`;
}

/** Counts on one line of a terminal, or on a line of its own now and then. */
function progress(total: number): (done: number) => void {
  let sum = 0;
  let line = LINE_EVERY;
  return (done) => {
    sum += done;
    if (process.stderr.isTTY) process.stderr.write(`\r${sum} of ${total}${sum < total ? '' : '\n'}`);
    else if (sum >= line || sum === total) {
      process.stderr.write(`${sum} of ${total}\n`);
      line += LINE_EVERY;
    }
  };
}

function table(rows: readonly Row[]): string {
  const line = (...cells: readonly (string | number)[]): string =>
    cells.map((cell, column) => (column === 0 ? String(cell).padEnd(16) : String(cell).padStart(14))).join('');
  return [
    line('', 'accepted', 'refused', 'disagreements'),
    ...rows.map((row) => line(row.language, row.accepted, row.refused, row.disagreements)),
  ].join('\n');
}

/** As JSON in plain ASCII: the texts hold what terminals act on and editors do not show. */
function json(value: unknown): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[^ -~]/g, escaped);
}

/** Adds what is new to the corpus; one case a line. */
function keep(found: readonly Input[]): void {
  const file = new URL('found.json', CORPUS);
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Input[]) : [];
  const lines = [...known, ...found].map(({ protocol, dialect, text }) => json({ protocol, dialect, text }));
  writeFileSync(file, `[\n  ${[...new Set(lines)].join(',\n  ')}\n]\n`);
}

function main(): number {
  const given = readArguments();
  if (typeof given === 'string') {
    console.error(`${given}\nUsage: npm run fuzz -- [--count N] [--seed N]`);
    return 2;
  }
  const { count, seed } = given;
  console.log(`${count} texts, seed ${seed}`);
  const tick = progress(count);
  const rows = LANGUAGES.map((language, index) => {
    const share = Math.floor((count + index) / LANGUAGES.length);
    return fuzz(language, share, seed, tick);
  });
  console.log(table(rows));
  const found = rows.flatMap((row) => row.found);
  if (found.length === 0) return 0;
  for (const input of found) console.log(`${nameOf(input)}: ${json(input.text)}`);
  keep(found);
  return 1;
}

process.exitCode = main();
