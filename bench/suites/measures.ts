/** The measurements of the goals. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { transformSync } from 'esbuild';
import { type Candidate, prepareAll, type Sample } from '../../src/bench/candidate.js';
import { envelope, pegwireAacp, pegwireAccp, rawFrames, recognizeAccp } from '../../src/bench/candidates/pegwire.js';
import { jsonAacp, jsonAccp } from '../../src/bench/candidates/plain.js';
import { mixedPackets } from '../../src/bench/corpus/aacp.js';
import { COSTLY_CATEGORIES, frameCategories, mixedFrames } from '../../src/bench/corpus/accp.js';
import type { Half } from '../../src/bench/corpus/texts.js';
import { type Runner, type RunnerResult, race, raceAsync } from '../../src/bench/race.js';
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
import { HTTP2, NATS } from '../arcp/transports.js';
import { plain, unguarded, withNodeSpans, withSpans } from '../candidates/copies.js';
import { handAccp } from '../candidates/hand.js';
import { BARE, OFFICIAL, PEGWIRE as OUR_CONNECTION } from '../connections/agents.js';
import { JSON_RPC, WEBSOCKET } from '../connections/transports.js';
import { echoRunners, LOADS } from '../connections/work.js';
import { cssDocument, jsonDocument } from '../corpus/documents.js';
import { projectRoot } from '../root.js';
import { GROUPED, ONE, raceInFile } from '../sessions/in-file.js';
import { longSession, WHOLE } from '../sessions/long-session.js';
import {
  COMPACT_DECODE,
  COMPACT_ENCODE,
  COUNTING,
  counting,
  DECODE,
  decoding,
  ENCODE,
  encoding,
  parsingWithZod,
  writingWithZod,
  ZOD,
  ZOD_WRITE,
} from '../sessions/runners.js';
import type { TransportCalls } from './arcp-child.js';
import { child } from './child.js';
import type { RunnerGroup } from './contest.js';
import { exampleGroup, FAST, STOCK } from './grammars.js';
import { readingGrowth } from './growth.js';
import { PACKET_TIMING } from './packets.js';
import { frameGroup, PACKET_PRINTER, PLAIN_PRINTER, PRINTER, packetGroup, STRINGIFY } from './printing.js';
import { REGISTRY_TIMING } from './registry.js';
import { rejectingRunners } from './rejecting.js';
import { SESSION_TIMING } from './sessions.js';

const REGISTRY_SIZES = [1, 100_000];
const TIMING = { rounds: 61, turnMs: 2, warmUpMs: 200 };

/** Returns the figures of some goals by their ids. A goal that is as good as its worst part has one figure per part, after a slash. */
type Measure = (half: Half) => Promise<Readonly<Record<string, number>>>;

/**
 * All measures by name. Each builds its own inputs, because it runs in a separate process. Races have two runners, so
 * that the garbage of a third one does not slow them. The public functions are compared with JSON; the raw parser,
 * which is similar to the baseline, with the baseline.
 */
export const MEASURES: Readonly<Record<string, Measure>> = {
  accp: reading('accp', jsonAccp, pegwireAccp, mixedFrames),
  hand: reading('hand', handAccp, rawFrames, mixedFrames),
  recognize: reading('recognize', jsonAccp, recognizeAccp, mixedFrames),
  envelope: reading('envelope', jsonAccp, envelope, mixedFrames),
  ...Object.fromEntries(
    frameCategories().map(({ name }) => {
      const id = COSTLY_CATEGORIES[name] ?? `category/${name}`;
      return [id, reading(id, jsonAccp, pegwireAccp, (half) => category(name, half))];
    }),
  ),
  growth: async () => {
    const { groups } = await readingGrowth({ ...TIMING, rounds: 9 });
    return Object.fromEntries(
      groups.map(({ name, results }) => [`growth/${name}`, Math.min(...results.map(({ ratio }) => ratio.median))]),
    );
  },
  aacp: reading('aacp', jsonAacp, pegwireAacp, mixedPackets),
  print: printing('print', STRINGIFY, PRINTER, (half) => frameGroup('mixed', mixedFrames(half))),
  'print-escapes': printing('print-escapes', STRINGIFY, PRINTER, (half) =>
    frameGroup('escapes', [...category('dense escapes', half), ...category('long prose', half)]),
  ),
  'print-packet': printing('print-packet', PLAIN_PRINTER, PACKET_PRINTER, (half) =>
    packetGroup('mixed', mixedPackets(half)),
  ),
  spans: cost('spans', plain, withNodeSpans),
  'all-spans': cost('all-spans', plain, withSpans),
  guard: cost('guard', unguarded, plain),
  reject: async (half) => ({ reject: (await ratios(rejectingRunners(half), jsonAccp.name))('code and offset') }),
  session: async () => {
    const tokens = await loadTokenCounter('o200k_base');
    const ratio = await ratios([parsingWithZod(), decoding(DECODE, tokens), counting(tokens)], ZOD, SESSION_TIMING);
    return { session: ratio(DECODE), counting: (100 * ratio(DECODE)) / ratio(COUNTING) };
  },
  'session-encode': async () => {
    const tokens = await loadTokenCounter('o200k_base');
    const ratio = await ratios([writingWithZod(), encoding(ENCODE, tokens)], ZOD_WRITE, SESSION_TIMING);
    return { 'session-encode': ratio(ENCODE) };
  },
  'compact-decode': async () => {
    const tokens = await loadTokenCounter('o200k_base');
    const pair = [decoding(DECODE, tokens), decoding(COMPACT_DECODE, tokens, { compact: true })];
    return { 'compact-decode': 1 / (await ratios(pair, DECODE, SESSION_TIMING))(COMPACT_DECODE) };
  },
  'compact-encode': async () => {
    const tokens = await loadTokenCounter('o200k_base');
    const pair = [encoding(ENCODE, tokens), encoding(COMPACT_ENCODE, tokens, { compact: true })];
    return { 'compact-encode': 1 / (await ratios(pair, ENCODE, SESSION_TIMING))(COMPACT_ENCODE) };
  },
  'session-sqlite': async () => {
    const results = await raceInFile(await loadTokenCounter('o200k_base'), true, 15);
    return { 'session-sqlite': ratioOf(results, GROUPED) / ratioOf(results, ONE) };
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
  'acp-websocket': async () => {
    const results = child<RunnerResult[]>('acp-transports-child.js', ['61', JSON_RPC, WEBSOCKET]);
    return { 'acp-websocket': ratioOf(results, WEBSOCKET) };
  },
  'arcp-read': async () => {
    const ratio = await ratios(messageRunners(messageTexts()), JSON_PARSE, { ...TIMING, warmUpMs: 2000 });
    return { 'arcp-read': ratio(PARSE) };
  },
  'arcp-echo': async () => {
    const { results } = child<RaceGroup>('arcp-child.js', ['echo', '9'], ['--expose-gc']);
    return { 'arcp-echo': ratioOf(results, RUNTIME) };
  },
  'arcp-http2': transport('arcp-http2', HTTP2),
  'arcp-nats': transport('arcp-nats', NATS),
  'arcp-resume': async () => {
    const { megabytes } = child<Resumed>('arcp-child.js', ['resume', '100000'], ['--expose-gc']);
    return { 'arcp-resume': megabytes };
  },
  sizes: async () => ({ 'size-accp': gzipped('accp'), 'size-aacp': gzipped('aacp') }),
  json: example('json', jsonDocument),
  css: example('css', cssDocument),
};

function reading(
  id: string,
  anchor: Candidate,
  candidate: Candidate,
  samples: (half: Half) => readonly Sample[],
): Measure {
  return async (half) => {
    const ratio = await ratios(await over([anchor, candidate], samples(half)), anchor.name);
    return { [id]: ratio(candidate.name) };
  };
}

function category(wanted: string, half: Half): readonly Sample[] {
  return frameCategories(half).find(({ name }) => name === wanted)!.samples;
}

function printing(id: string, anchor: string, printer: string, group: (half: Half) => RunnerGroup): Measure {
  return async (half) => {
    const pair = group(half).runners.filter(({ name }) => name === anchor || name === printer);
    return { [id]: (await ratios(pair, anchor))(printer) };
  };
}

/** Has no figure if the transport needs a server or package that is missing. */
function transport(id: string, name: string): Measure {
  return async () => {
    const { group, missing } = child<TransportCalls>('arcp-child.js', ['transports', '15', name], ['--expose-gc']);
    return missing?.some((one) => one.name === name) ? {} : { [id]: ratioOf(group.results, name) };
  };
}

/** The additional time in percent, comparing the fastest copies of both. */
function cost(id: string, without: readonly Candidate[], having: readonly Candidate[]): Measure {
  return async (half) => {
    const ratio = await ratios(await over([...without, ...having], mixedFrames(half)), without[0]!.name);
    const fastest = (copies: readonly Candidate[]): number => Math.max(...copies.map(({ name }) => ratio(name)));
    return { [id]: 100 * (fastest(without) / fastest(having) - 1) };
  };
}

function packets(id: string, runners: () => readonly Runner[]): Measure {
  return async () => ({ [id]: (await ratios(runners(), SPLIT, PACKET_TIMING))(PEGWIRE) });
}

async function ratios(runners: readonly Runner[], anchor: string, timing = TIMING): Promise<(name: string) => number> {
  const results = await race(runners, { ...timing, anchor });
  return (name) => ratioOf(results, name);
}

function ratioOf(results: readonly RunnerResult[], name: string): number {
  const result = results.find((one) => one.name === name);
  if (result === undefined) throw new RangeError(`${name} did not run`);
  return result.ratio.median;
}

async function over(candidates: readonly Candidate[], samples: readonly Sample[]): Promise<Runner[]> {
  const { ready } = await prepareAll(candidates);
  return readers(ready, samples);
}

/** The hits of the larger registry, relative to those of the smaller one of its kind; the worse of the two stores. */
async function registry(): Promise<Record<string, number>> {
  const { lines, close } = await openLines(['memory', 'sqlite'], REGISTRY_SIZES);
  const rates = await hitRates(lines, REGISTRY_TIMING);
  await close();
  const worst = (question: string): number =>
    Math.min(...rates.filter((one) => one.question === question).map(({ ratio }) => ratio.median));
  return { repeat: worst('repeat'), pattern: worst('pattern') };
}

/** Small messages, for which the connection itself takes most of the time. */
async function connections(): Promise<Record<string, number>> {
  const results = await raceAsync(echoRunners(LOADS[0]!), { anchor: BARE, rounds: 15 });
  const ours = ratioOf(results, OUR_CONNECTION);
  return { 'rpc-bare': ours, 'rpc-official': ours / ratioOf(results, OFFICIAL) };
}

function example(name: 'json' | 'css', document: () => string): Measure {
  return async () => {
    const { runners } = await exampleGroup(name, document());
    return { [`grammar-${name}`]: (await ratios(runners, STOCK))(FAST) };
  };
}

/** The size of a generated parser for a page, including its error messages, in kB. */
function gzipped(protocol: 'accp' | 'aacp'): number {
  const source = readFileSync(path.join(projectRoot(), `generated/${protocol}.js`), 'utf8');
  const { code } = transformSync(source, { minify: true, format: 'esm', target: 'es2022' });
  return gzipSync(code, { level: 9 }).length / 1000;
}
