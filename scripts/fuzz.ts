/**
 * Compares the generated parsers, the parsers of Peggy without the plugin, the handwritten parsers, the Ohm grammars and the ABNF grammars (in
 * apg-js) on mutants, and reports disagreements.
 *
 *     npm run fuzz -- --count 1000000 --seed 1
 *
 * The mutants are split evenly over both protocols and their dialects. Ohm parses at most 50,000 of them, evenly distributed. The text of a
 * disagreement is shrunk and added to test/fuzz/corpus/found.json, which is part of the tests. Exit codes: 0 no disagreement, 1 a
 * disagreement, 2 invalid arguments.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { createRandom } from '../src/text/random.js';
import { READERS, type Reader, supportsLanguage } from '../test/fuzz/compare.js';
import { CORPUS, type Input, LANGUAGES, nameOf } from '../test/fuzz/languages.js';
import { addTally, emptyTally, type Finding, type Share, type Tally } from '../test/fuzz/share.js';

/** The maximum number of texts in a share. Each share has its own seed texts. */
const SHARE = 10_000;
/** The maximum number of texts that Ohm parses. */
const OHM_TEXTS = 50_000;
/** The number of texts between two lines of progress, if stderr is not a terminal. */
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
    if (!Number.isSafeInteger(count) || count < 1) return `--count must be a positive integer; got ${values.count}`;
    if (!Number.isSafeInteger(seed)) return `--seed must be an integer; got ${values.seed}`;
    return { count, seed };
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** Splits the work into shares. Their seeds are random, so that runs with consecutive seeds have no texts in common. */
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

/** Distributes the work over processes, and returns one tally per language. The result does not depend on the number of processes. */
async function compareAll(work: readonly Share[], tick: (done: number) => void): Promise<Tally[]> {
  const tallies = new Map<number, Tally>();
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(availableParallelism(), work.length) }, async () => {
      // Processes, since threads do not inherit the TypeScript loader of tsx.
      const worker = fork(new URL('../test/fuzz/worker.ts', import.meta.url), { serialization: 'advanced' });
      while (next < work.length) {
        const number = next++;
        tallies.set(number, await compare(worker, work[number]!));
        tick(work[number]!.count);
      }
      worker.disconnect();
    }),
  );
  const sums = new Map(LANGUAGES.map((language) => [nameOf(language), emptyTally(language)]));
  for (const [number, { language }] of work.entries()) addTally(sums.get(nameOf(language))!, tallies.get(number)!);
  return [...sums.values()];
}

/** Runs a share in a process. @throws Error if the process exits first */
function compare(worker: ChildProcess, share: Share): Promise<Tally> {
  return new Promise((resolve, reject) => {
    const fail = (code: number | null): void => reject(new Error(`A process exited with code ${code}`));
    worker.once('exit', fail);
    worker.once('message', (tally) => {
      worker.off('exit', fail);
      resolve(tally as Tally);
    });
    worker.send(share);
  });
}

/** Prints progress: on one line of a terminal, or at intervals on separate lines. */
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
    line('', '', '', 'disagreements with stock Peggy, of texts:'),
    line('', 'accepted', 'rejected', ...READERS.map((reader) => TITLES[reader])),
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

/** Writes JSON in ASCII, since the texts contain control and invisible characters. */
function json(value: unknown): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // JSON has no bigint.
  const plain = (_name: string, member: unknown): unknown => (typeof member === 'bigint' ? `${member}n` : member);
  return JSON.stringify(value, plain).replace(/[^ -~]/g, escaped);
}

function described({ reader, input, disagreement: { reading, given, expected } }: Finding): string {
  const details = [`  given:    ${json(given)}`, `  expected: ${json(expected)}`];
  return [`${nameOf(input)}, ${TITLES[reader]} (${reading}): ${json(input.text)}`, ...details].join('\n');
}

/** Adds new cases to the corpus, one per line. */
function addToCorpus(found: readonly Input[]): void {
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
  addToCorpus(found.map(({ input }) => input));
  return 1;
}

process.exitCode = await main();
