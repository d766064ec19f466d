/**
 * Feeds mutants to the generated parsers, to what Peggy alone makes of the same grammars, to the parsers written by hand, to the
 * Ohm grammars and to the ABNF grammars, which apg-js runs, and reports where they disagree.
 *
 *     npm run fuzz -- --count 1000000 --seed 1
 *
 * The mutants are split evenly over both protocols and their dialects. Ohm reads 50,000 of them at most, evenly spread. A
 * disagreement is cut down to a smaller text and added to test/fuzz/corpus/found.json, which the tests run from then on. Exit
 * codes: 0 all agree, 1 they do not, 2 wrong usage.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { createRandom } from '../src/text/random.js';
import { READERS, type Reader, supportsLanguage } from '../test/fuzz/compare.js';
import { CORPUS, type Input, LANGUAGES, nameOf } from '../test/fuzz/languages.js';
import { addTally, emptyTally, type Finding, type Share, type Tally } from '../test/fuzz/share.js';

/** Texts in a share at most: what they are made of is drawn anew for each share. */
const SHARE = 10_000;
/** Texts that are read with Ohm at most. */
const OHM_TEXTS = 50_000;
/** Texts between two lines of progress, where nobody watches a terminal. */
const LINE_EVERY = 50_000;

const TITLES: Readonly<Record<Reader, string>> = {
  fast: 'generated',
  recognize: 'recognize',
  envelope: 'envelope',
  hand: 'by hand',
  ohm: 'Ohm',
  apg: 'apg-js',
};

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

/** All the work. The seeds of the shares are random, so that two runs with seeds side by side have no texts in common. */
function shares({ count, seed }: Arguments): Share[] {
  const random = createRandom(seed);
  const ohmEvery = Math.ceil(count / OHM_TEXTS);
  return LANGUAGES.flatMap((language, index) => {
    const texts = Math.floor((count + index) / LANGUAGES.length);
    return Array.from({ length: Math.ceil(texts / SHARE) }, (_, number) => ({
      language,
      count: Math.min(SHARE, texts - number * SHARE),
      seed: random.integer(0, 2 ** 31 - 1),
      ohmEvery,
    }));
  });
}

/** Spreads the work over processes, and gives one tally for each language. What is found does not depend on their number. */
async function compareAll(work: readonly Share[], tick: (done: number) => void): Promise<Tally[]> {
  const tallies = new Map<number, Tally>();
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(availableParallelism(), work.length) }, async () => {
      // Not threads: those do not inherit from tsx that they can read TypeScript.
      const worker = fork(new URL('../test/fuzz/worker.ts', import.meta.url), { serialization: 'advanced' });
      while (next < work.length) {
        const number = next++;
        tallies.set(number, await answer(worker, work[number]!));
        tick(work[number]!.count);
      }
      worker.disconnect();
    }),
  );
  const sums = new Map(LANGUAGES.map((language) => [nameOf(language), emptyTally(language)]));
  for (const [number, { language }] of work.entries()) addTally(sums.get(nameOf(language))!, tallies.get(number)!);
  return [...sums.values()];
}

/** @throws when the process ends before it has answered */
function answer(worker: ChildProcess, share: Share): Promise<Tally> {
  return new Promise((resolve, reject) => {
    const fail = (code: number | null): void => reject(new Error(`A process ended with code ${code}`));
    worker.once('exit', fail);
    worker.once('message', (tally) => {
      worker.off('exit', fail);
      resolve(tally as Tally);
    });
    worker.send(share);
  });
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

function table(tallies: readonly Tally[]): string {
  const line = (...cells: readonly (string | number)[]): string =>
    cells.map((cell, column) => (column === 0 ? String(cell).padEnd(15) : String(cell).padStart(15))).join('');
  return [
    line('', '', '', 'disagreements of texts, with stock Peggy:'),
    line('', 'accepted', 'refused', ...READERS.map((reader) => TITLES[reader])),
    ...tallies.map(({ language, accepted, refused, readers }) =>
      line(
        nameOf(language),
        accepted,
        refused,
        ...READERS.map((reader) => {
          const { disagreements, texts } = readers[reader];
          return supportsLanguage(reader, language) ? `${disagreements} of ${texts}` : '-';
        }),
      ),
    ),
  ].join('\n');
}

/** As JSON in plain ASCII: the texts hold what terminals act on and editors do not show. */
function json(value: unknown): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // JSON has no big integers.
  const plain = (_name: string, member: unknown): unknown => (typeof member === 'bigint' ? `${member}n` : member);
  return JSON.stringify(value, plain).replace(/[^ -~]/g, escaped);
}

function described({ reader, input, disagreement: { reading, given, expected } }: Finding): string {
  const details = [`  given:    ${json(given)}`, `  expected: ${json(expected)}`];
  return [`${nameOf(input)}, ${TITLES[reader]} (${reading}): ${json(input.text)}`, ...details].join('\n');
}

/** Adds what is new to the corpus; one case a line. */
function keep(found: readonly Input[]): void {
  const file = new URL('found.json', CORPUS);
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Input[]) : [];
  const lines = [...known, ...found].map(({ protocol, dialect, text }) => json({ protocol, dialect, text }));
  writeFileSync(file, `[\n  ${[...new Set(lines)].join(',\n  ')}\n]\n`);
}

async function main(): Promise<number> {
  const given = readArguments();
  if (typeof given === 'string') {
    console.error(`${given}\nUsage: npm run fuzz -- [--count N] [--seed N]`);
    return 2;
  }
  const { count, seed } = given;
  console.log(`${count} texts, seed ${seed}`);
  const tallies = await compareAll(shares(given), progress(count));
  console.log(table(tallies));
  const found = tallies.flatMap((tally) => tally.found);
  if (found.length === 0) return 0;
  for (const finding of found) console.log(described(finding));
  keep(found.map(({ input }) => input));
  return 1;
}

process.exitCode = await main();
