/** Encoding and decoding through sessions, compared with JSON, zod and TOON on the same messages. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseFrame } from '../../src/accp/index.js';
import { sqliteStore } from '../../src/accp/store/sqlite.js';
import { optionalPackage } from '../../src/bench/candidate.js';
import type { Runner } from '../../src/bench/race.js';
import type { RaceSection, Section } from '../../src/bench/result.js';
import { significant } from '../../src/bench/table.js';
import { handling } from '../../src/bench/workload.js';
import type { TokenCounter } from '../../src/tokens/counter.js';
import { loadTokenCounter } from '../../src/tokens/load-counter.js';
import { corpusMessages } from '../sessions/corpus.js';
import { createBatches } from '../sessions/endpoints.js';
import { GROUPED, ONE, raceInFile, SESSIONS } from '../sessions/in-file.js';
import { longSession, WHOLE } from '../sessions/long-session.js';
import {
  counting,
  DECODE,
  decoding,
  ENCODE,
  encoding,
  jsonTexts,
  parsingWithZod,
  writingWithZod,
  ZOD,
  ZOD_WRITE,
} from '../sessions/runners.js';
import { type RaceTiming, type RunnerGroup, runRaces } from './contest.js';

const STRINGIFY = 'JSON.stringify';
/** A hot state that is not full before the host's checkpoint. */
const ROOMY = { hot: 1e7, hotTrigger: 1e7, checkpoint: 200, summary: 100 };

interface Toon {
  encode(value: unknown): string;
  decode(text: string): unknown;
}

/** Sessions have more code than parsers: they need a longer warm-up, and turns that are long enough to stay warm. */
export const SESSION_TIMING = { rounds: 61, turnMs: 10, warmUpMs: 1500 };

export async function sessions({ rounds }: RaceTiming): Promise<Section[]> {
  const timing = { ...SESSION_TIMING, rounds };
  const tokens = await loadTokenCounter('o200k_base');
  const { encode, decode } = await optionalPackage<Toon>('@toon-format/toon');
  const messages = corpusMessages();
  const { frames } = createBatches(tokens)();
  return [
    await runRaces(
      {
        ...{ id: 'session-decode', title: 'Decoding through a session', unit: 'message', anchor: ZOD },
        note: 'Tokens are counted exactly (o200k_base). zod checks envelopes and the payloads of profiles, but not values that may be any JSON.',
      },
      [
        group(frames, [
          parsingWithZod(),
          decoding(DECODE, tokens),
          counting(tokens),
          decoding('the same, checkpoints by the host', tokens, { checkpoints: 'manual' }, { budgets: ROOMY }),
          decoding('the same, without state', tokens, { state: false }),
          handling('pegwire parseFrame', (text) => parseFrame(text), frames),
          handling('JSON.parse', JSON.parse, jsonTexts()),
          handling('TOON decode', (text) => decode(text), messages.map(encode)),
        ]),
      ],
      timing,
    ),
    await runRaces(
      { id: 'session-encode', title: 'Encoding through a session', unit: 'message', anchor: ZOD_WRITE },
      [
        group(frames, [
          writingWithZod(),
          encoding(ENCODE, tokens),
          encoding('the same, without state', tokens, { state: false }),
          handling(STRINGIFY, (message) => JSON.stringify(message), messages),
          handling('TOON encode', encode, messages),
        ]),
      ],
      timing,
    ),
    await inFile(tokens, frames, timing),
    await inGroups(tokens, timing.rounds),
    await whenOld(tokens),
  ];
}

function group(frames: readonly string[], runners: readonly Runner[]): RunnerGroup {
  const characters = frames.reduce((sum, { length }) => sum + length, 0);
  return { name: 'messages', units: corpusMessages().length, characters, runners };
}

async function inFile(tokens: TokenCounter, frames: readonly string[], timing: RaceTiming): Promise<RaceSection> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-sessions-'));
  const store = await sqliteStore(path.join(folder, 'sessions.db'));
  const few = { ...timing, rounds: Math.min(timing.rounds, 15) };
  try {
    return await runRaces(
      {
        ...{
          id: 'session-sqlite',
          title: 'Decoding through a session in a file',
          unit: 'message',
          anchor: 'in memory',
        },
        note: 'SQLite, one transaction per frame: the results of `decode` survive the process.',
      },
      [group(frames, [decoding('in memory', tokens), decoding('in a file', tokens, {}, { store })])],
      few,
    );
  } finally {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function inGroups(tokens: TokenCounter, rounds: number): Promise<Section> {
  const few = Math.min(rounds, 15);
  const rows: string[][] = [];
  for (const [name, powerSafe] of [
    ['the process', false],
    ['a power failure', true],
  ] as const) {
    for (const { name: who, nanoseconds, ratio } of await raceInFile(tokens, powerSafe, few)) {
      rows.push([
        `${who}, survives ${name}`,
        significant(nanoseconds.median / 1000 / SESSIONS),
        significant(ratio.median),
      ]);
    }
  }
  return {
    ...{ kind: 'facts', id: 'session-groups', title: 'Encoding through sessions in one file' },
    columns: ['', 'us per frame', `x ${ONE}`],
    rows,
    note: `SQLite: ${ONE} with one transaction per frame, ${GROUPED} with \`groupCommit\`, one transaction for a frame of each.`,
  };
}

async function whenOld(tokens: TokenCounter): Promise<Section> {
  const { first, last } = await longSession(tokens, WHOLE);
  return {
    ...{ kind: 'facts', id: 'session-long', title: 'Decoding a long session' },
    columns: ['', 'us per frame'],
    rows: [
      [`the first ${WHOLE.window} frames`, significant(first)],
      [`the last ${WHOLE.window} of ${WHOLE.frames}`, significant(last)],
      ['times as long', significant(last / first)],
    ],
    note: 'Processor time, including garbage collection; the two sessions take turns.',
  };
}
