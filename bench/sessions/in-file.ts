/** Sessions in a SQLite file: one that stores each frame by itself, and many that store theirs in groups. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { MessageInput } from '../../src/accp/codec/index.js';
import { type SqliteStore, sqliteStore } from '../../src/accp/store/sqlite.js';
import { type AsyncRunner, type RunnerResult, raceAsync } from '../../src/bench/race.js';
import type { TokenCounter } from '../../src/tokens/counter.js';
import { createEndpoint, createRounds, type Endpoint } from './endpoints.js';

/** The number of sessions in a group, and of frames in one pass of each runner. */
export const SESSIONS = 32;

export const ONE = 'one session';
export const GROUPED = `${SESSIONS} sessions in groups`;

/** A session, and the corpus as its endless input. */
interface Line {
  readonly endpoint: Endpoint;
  readonly nextRound: () => MessageInput[];
  round: MessageInput[];
}

/** Compares the encoding of as many frames by one session and by many, each in a file of its own. @param powerSafe as in `sqliteStore` */
export async function raceInFile(tokens: TokenCounter, powerSafe: boolean, rounds: number): Promise<RunnerResult[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-sessions-'));
  const open = (name: string): Promise<SqliteStore> => sqliteStore(path.join(folder, name), { powerSafe });
  const [alone, together] = [await open('one.db'), await open('many.db')];
  try {
    return await raceAsync([oneSession(tokens, alone), sessionsInGroups(tokens, together)], { anchor: ONE, rounds });
  } finally {
    alone.close();
    together.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function oneSession(tokens: TokenCounter, store: SqliteStore): AsyncRunner {
  const line = lineIn(store, tokens, 's');
  return {
    name: ONE,
    pass: async () => {
      for (let frame = 0; frame < SESSIONS; frame++) encodeNext(line);
    },
  };
}

function sessionsInGroups(tokens: TokenCounter, store: SqliteStore): AsyncRunner {
  const lines = Array.from({ length: SESSIONS }, (_, index) => lineIn(store, tokens, `s${index}`));
  return {
    name: GROUPED,
    pass: async () => {
      await Promise.all(lines.map((line) => store.groupCommit(() => encodeNext(line))));
    },
  };
}

function lineIn(store: SqliteStore, tokens: TokenCounter, id: string): Line {
  return { endpoint: createEndpoint(tokens, {}, { store, id }), nextRound: createRounds(), round: [] };
}

function encodeNext(line: Line): void {
  const { endpoint, nextRound } = line;
  if (line.round.length === 0) line.round = nextRound().reverse();
  endpoint.codec.encode(line.round.pop()!, endpoint.session);
}
