/** How the goals are measured. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { transformSync } from 'esbuild';
import { type Candidate, prepareAll, type Sample } from '../../src/bench/candidate.js';
import { envelope, pegwireAacp, pegwireAccp, rawFrames, recognizeAccp } from '../../src/bench/candidates/pegwire.js';
import { jsonAacp, jsonAccp } from '../../src/bench/candidates/plain.js';
import { mixedPackets } from '../../src/bench/corpus/aacp.js';
import { frameCategories, mixedFrames } from '../../src/bench/corpus/accp.js';
import { type Runner, race, raceAsync, type Standing } from '../../src/bench/race.js';
import type { RaceGroup } from '../../src/bench/result.js';
import { readers } from '../../src/bench/workload.js';
import { loadTokenCounter } from '../../src/tokens/load-counter.js';
import {
  encodingRows,
  encodingRunners,
  explainingRunners,
  PEGWIRE,
  packetTexts,
  SPLIT,
  validatingRunners,
} from '../aacp/packet-work.js';
import { hitRates, openLines } from '../aacp/registry-work.js';
import { RUNTIME } from '../arcp/echo.js';
import { JSON_PARSE, messageRunners, messageTexts, PARSE } from '../arcp/messages.js';
import type { Resumed } from '../arcp/resume.js';
import { plain, unguarded, withNodeSpans, withSpans } from '../candidates/copies.js';
import { handAccp } from '../candidates/hand.js';
import { BARE, OFFICIAL, PEGWIRE as OUR_CONNECTION } from '../connections/agents.js';
import { echoRunners, LOADS } from '../connections/work.js';
import { cssDocument, jsonDocument } from '../corpus/documents.js';
import { projectRoot } from '../root.js';
import { longSession, WHOLE } from '../sessions/long-session.js';
import { COUNTING, counting, DECODE, decoding, parsingWithZod, ZOD } from '../sessions/runners.js';
import { child } from './child.js';
import { exampleHeat, FAST, STOCK } from './grammars.js';
import { PACKET_PACE } from './packets.js';
import { frameHeat, STRINGIFY, WRITER } from './printing.js';
import { REGISTRY_TIMING } from './registry.js';
import { rejectingRunners } from './rejecting.js';
import { SESSION_PACE } from './sessions.js';

const REGISTRY_SIZES = [1, 100_000];
const PACE = { rounds: 61, turn: 2, warmUp: 200 };

/** Gives the figures of some goals by their ids; a goal that is as good as its worst part, has one for each part behind a slash. */
type Measure = () => Promise<Readonly<Record<string, number>>>;

/**
 * All measures by name. Each makes what it needs, because it runs in a process that measures nothing else. Pairs, so that nobody
 * suffers from a third one's garbage. The public functions are held against JSON; the raw parser, which the yardstick is like,
 * against the yardstick.
 */
export const MEASURES: Readonly<Record<string, Measure>> = {
  accp: reading('accp', jsonAccp, pegwireAccp, mixedFrames),
  hand: reading('hand', handAccp, rawFrames, mixedFrames),
  recognize: reading('recognize', jsonAccp, recognizeAccp, mixedFrames),
  envelope: reading('envelope', jsonAccp, envelope, mixedFrames),
  ...Object.fromEntries(
    frameCategories().map(({ name, samples }) => {
      const id = `category/${name}`;
      return [id, reading(id, jsonAccp, pegwireAccp, () => samples)];
    }),
  ),
  aacp: reading('aacp', jsonAacp, pegwireAacp, mixedPackets),
  print: async () => {
    const { runners } = frameHeat('mixed', mixedFrames());
    const pair = runners.filter(({ name }) => name === STRINGIFY || name === WRITER);
    return { print: (await ratios(pair, STRINGIFY))(WRITER) };
  },
  spans: cost('spans', plain, withNodeSpans),
  'all-spans': cost('all-spans', plain, withSpans),
  guard: cost('guard', unguarded, plain),
  reject: async () => ({ reject: (await ratios(rejectingRunners(), jsonAccp.name))('code and offset') }),
  session: async () => {
    const tokens = await loadTokenCounter('o200k_base');
    const ratio = await ratios([parsingWithZod(), decoding(DECODE, tokens), counting(tokens)], ZOD, SESSION_PACE);
    return { session: ratio(DECODE), counting: (100 * ratio(DECODE)) / ratio(COUNTING) };
  },
  'long session': async () => {
    const { first, last } = await longSession(await loadTokenCounter('o200k_base'), WHOLE);
    return { long: last / first };
  },
  'packet-encode': packets('packet-encode', () => encodingRunners(encodingRows())),
  'packet-validate': packets('packet-validate', () => validatingRunners(packetTexts())),
  'packet-explain': packets('packet-explain', () => explainingRunners(packetTexts())),
  registry,
  connections,
  'arcp-read': async () => {
    const ratio = await ratios(messageRunners(messageTexts()), JSON_PARSE, { ...PACE, warmUp: 2000 });
    return { 'arcp-read': ratio(PARSE) };
  },
  'arcp-echo': async () => {
    const { standings } = child<RaceGroup>('arcp-child.js', ['echo', '9'], ['--expose-gc']);
    return { 'arcp-echo': ratioOf(standings, RUNTIME) };
  },
  'arcp-resume': async () => {
    const { megabytes } = child<Resumed>('arcp-child.js', ['resume', '100000'], ['--expose-gc']);
    return { 'arcp-resume': megabytes };
  },
  sizes: async () => ({ 'size-accp': gzipped('accp'), 'size-aacp': gzipped('aacp') }),
  json: example('json', jsonDocument),
  css: example('css', cssDocument),
};

function reading(id: string, anchor: Candidate, candidate: Candidate, samples: () => readonly Sample[]): Measure {
  return async () => {
    const ratio = await ratios(await over([anchor, candidate], samples()), anchor.name);
    return { [id]: ratio(candidate.name) };
  };
}

/** How much longer it takes with than without, in percent, the fastest copies of each held against each other. */
function cost(id: string, without: readonly Candidate[], having: readonly Candidate[]): Measure {
  return async () => {
    const ratio = await ratios(await over([...without, ...having], mixedFrames()), without[0]!.name);
    const fastest = (copies: readonly Candidate[]): number => Math.max(...copies.map(({ name }) => ratio(name)));
    return { [id]: 100 * (fastest(without) / fastest(having) - 1) };
  };
}

function packets(id: string, runners: () => readonly Runner[]): Measure {
  return async () => ({ [id]: (await ratios(runners(), SPLIT, PACKET_PACE))(PEGWIRE) });
}

async function ratios(runners: readonly Runner[], anchor: string, pace = PACE): Promise<(name: string) => number> {
  const standings = await race(runners, { ...pace, anchor });
  return (name) => ratioOf(standings, name);
}

function ratioOf(standings: readonly Standing[], name: string): number {
  const standing = standings.find((one) => one.name === name);
  if (standing === undefined) throw new RangeError(`${name} did not run`);
  return standing.ratio.median;
}

async function over(candidates: readonly Candidate[], samples: readonly Sample[]): Promise<Runner[]> {
  const { ready } = await prepareAll(candidates);
  return readers(ready, samples);
}

/** Of the larger registries, the worse one's hits against those of the smaller of its kind. */
async function registry(): Promise<Record<string, number>> {
  const { lines, close } = await openLines(['memory', 'sqlite'], REGISTRY_SIZES);
  const rates = await hitRates(lines, REGISTRY_TIMING);
  await close();
  const worst = (question: string): number =>
    Math.min(...rates.filter((one) => one.question === question).map(({ ratio }) => ratio.median));
  return { repeat: worst('repeat'), pattern: worst('pattern') };
}

/** Small messages, of which the connection itself is the largest part. */
async function connections(): Promise<Record<string, number>> {
  const standings = await raceAsync(echoRunners(LOADS[0]!), { anchor: BARE, rounds: 15 });
  const ours = ratioOf(standings, OUR_CONNECTION);
  return { 'rpc-bare': ours, 'rpc-official': ours / ratioOf(standings, OFFICIAL) };
}

function example(name: 'json' | 'css', document: () => string): Measure {
  return async () => {
    const { runners } = await exampleHeat(name, document());
    return { [`grammar-${name}`]: (await ratios(runners, STOCK))(FAST) };
  };
}

/** The size of a generated parser as a page gets it, with all that explains errors, in kB. */
function gzipped(protocol: 'accp' | 'aacp'): number {
  const source = readFileSync(path.join(projectRoot(), `generated/${protocol}.js`), 'utf8');
  const { code } = transformSync(source, { minify: true, format: 'esm', target: 'es2022' });
  return gzipSync(code, { level: 9 }).length / 1000;
}
