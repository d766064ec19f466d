/**
 * Measures the goals of the gate, each once. What V8 makes of code differs from process to process, and with it some figures by
 * several percent; so the gate starts this program for each repetition.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { transformSync } from 'esbuild';
import { type Candidate, prepareAll, type Sample } from '../../src/bench/candidate.js';
import { jsonAacp, jsonAccp } from '../../src/bench/candidates/json.js';
import * as pegwire from '../../src/bench/candidates/pegwire.js';
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
import { hitRates, type Line, openLines } from '../aacp/registry-work.js';
import { RUNTIME } from '../arcp/echo.js';
import { JSON_PARSE, messageRunners, messageTexts, PARSE } from '../arcp/messages.js';
import type { Resumed } from '../arcp/resume.js';
import { handAccp } from '../candidates/hand.js';
import { guarded, unguarded } from '../candidates/unguarded.js';
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

const PACE = { rounds: 61, turn: 2, warmUp: 200 };

/** Gives the figures of some goals by their ids; a goal that is as good as its worst part, has one for each part behind a slash. */
type Measure = () => Promise<Readonly<Record<string, number>>>;

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

/**
 * Pairs, so that nobody suffers from a third one's garbage. The public functions are held against JSON; the raw parser, which the yardstick is like, against the
 * yardstick.
 */
async function measures(lines: readonly Line[]): Promise<Measure[]> {
  const frames = mixedFrames();
  const { pegwireAccp, pegwireAacp, rawFrames, rawFramesSpans, recognizeAccp, envelope } = pegwire;
  const accp = await over([jsonAccp, pegwireAccp], frames);
  const hand = await over([handAccp, rawFrames], frames);
  const recognizing = await over([jsonAccp, recognizeAccp], frames);
  const enveloping = await over([jsonAccp, envelope], frames);
  const spans = await over([rawFrames, rawFramesSpans], frames);
  const guard = await over([unguarded, guarded], frames);
  const aacp = await over([jsonAacp, pegwireAacp], mixedPackets());
  const categories: Measure[] = [];
  for (const { name, samples } of frameCategories()) {
    const runners = await over([jsonAccp, pegwireAccp], samples);
    categories.push(async () => ({ [`category/${name}`]: (await ratios(runners, jsonAccp.name))(pegwireAccp.name) }));
  }
  const printers = frameHeat('mixed', frames).runners.filter(({ name }) => name === STRINGIFY || name === WRITER);
  const rejecting = rejectingRunners();
  const arcpReading = messageRunners(messageTexts());
  const tokens = await loadTokenCounter('o200k_base');
  const texts = packetTexts();
  const packets = {
    'packet-encode': encodingRunners(encodingRows()),
    'packet-validate': validatingRunners(texts),
    'packet-explain': explainingRunners(texts),
  };
  const sessions = [parsingWithZod(), decoding(DECODE, tokens), counting(tokens)];

  return [
    async () => ({ accp: (await ratios(accp, jsonAccp.name))(pegwireAccp.name) }),
    async () => ({ hand: (await ratios(hand, handAccp.name))(rawFrames.name) }),
    optional('recognize', recognizing, recognizeAccp),
    optional('envelope', enveloping, envelope),
    ...categories,
    async () => ({ aacp: (await ratios(aacp, jsonAacp.name))(pegwireAacp.name) }),
    async () => ({ print: (await ratios(printers, STRINGIFY))(WRITER) }),
    async () => ({ spans: 100 * (1 / (await ratios(spans, rawFrames.name))(rawFramesSpans.name) - 1) }),
    async () => ({ guard: 100 * (1 / (await ratios(guard, unguarded.name))(guarded.name) - 1) }),
    async () => ({ reject: (await ratios(rejecting, jsonAccp.name))('code and offset') }),
    async () => {
      const ratio = await ratios(sessions, ZOD, SESSION_PACE);
      return { session: ratio(DECODE), counting: (100 * ratio(DECODE)) / ratio(COUNTING) };
    },
    async () => {
      const { first, last } = await longSession(tokens, WHOLE);
      return { long: last / first };
    },
    ...Object.entries(packets).map(([id, runners]): Measure => {
      return async () => ({ [id]: (await ratios(runners, SPLIT, PACKET_PACE))(PEGWIRE) });
    }),
    async () => hits(lines),
    connections,
    async () => ({ 'arcp-read': (await ratios(arcpReading, JSON_PARSE, { ...PACE, warmUp: 2000 }))(PARSE) }),
    runtimes,
    async () => ({ 'size-accp': gzipped('accp'), 'size-aacp': gzipped('aacp') }),
    example('json', jsonDocument()),
    example('css', cssDocument()),
  ];
}

/** Of the larger registries, the worse one's hits against those of the smaller of its kind. */
async function hits(lines: readonly Line[]): Promise<Record<string, number>> {
  const rates = await hitRates(lines, REGISTRY_TIMING);
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

/** In processes of their own. */
async function runtimes(): Promise<Record<string, number>> {
  const { standings } = child<RaceGroup>('arcp-child.js', ['echo', '9'], ['--expose-gc']);
  const { megabytes } = child<Resumed>('arcp-child.js', ['resume', '100000'], ['--expose-gc']);
  return { 'arcp-echo': ratioOf(standings, RUNTIME), 'arcp-resume': megabytes };
}

/** What not every build of the parsers has. */
function optional(id: string, runners: readonly Runner[], { name }: Candidate): Measure {
  return async (): Promise<Record<string, number>> => {
    if (!runners.some((runner) => runner.name === name)) return {};
    return { [id]: (await ratios(runners, jsonAccp.name))(name) };
  };
}

function example(name: 'json' | 'css', document: string): Measure {
  return async () => {
    const { runners } = await exampleHeat(name, document);
    return { [`grammar-${name}`]: (await ratios(runners, STOCK))(FAST) };
  };
}

/** The size of a generated parser as a page gets it, with all that explains errors, in kB. */
function gzipped(protocol: 'accp' | 'aacp'): number {
  const source = readFileSync(path.join(projectRoot(), `generated/${protocol}.js`), 'utf8');
  const { code } = transformSync(source, { minify: true, format: 'esm', target: 'es2022' });
  return gzipSync(code, { level: 9 }).length / 1000;
}

const REGISTRY_SIZES = [1, 100_000];

async function main(): Promise<void> {
  const { lines, close } = await openLines(['memory', 'sqlite'], REGISTRY_SIZES);
  const figures: Record<string, number> = {};
  for (const measure of await measures(lines)) Object.assign(figures, await measure());
  await close();
  console.log(JSON.stringify(figures));
}

await main();
