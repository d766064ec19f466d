/** The vocabulary of draft-benzing-accp-00: intents, standard keys, envelope fields, and the order of metadata. */

import type { Words } from '../text/ascii.js';
import { byCodeUnit } from '../text/ascii.js';

/** Core intents (Table 7), as a verb phrase after the agent's name. */
export const INTENTS: Words = {
  req: 'requests',
  done: 'reports completion of',
  fail: 'reports failure of',
  wait: 'is waiting in',
  esc: 'escalates',
  comp: 'triggers a context checkpoint in',
  sync: 'synchronizes',
  qry: 'queries',
  ack: 'acknowledges',
  cancel: 'cancels',
  stream: 'streams results of',
  end: 'ends the stream of',
};

/** Intents that end a chain of requests (Table 7). */
export const ENDING_INTENTS: ReadonlySet<string> = new Set(['done', 'end', 'fail', 'cancel']);

/** Standard abbreviations of payload keys (Table 8). */
export const ABBREVIATIONS: Words = {
  d: 'data',
  f: 'findings',
  nx: 'next action',
  src: 'source',
  dst: 'destination',
  q: 'query',
  fmt: 'format',
  pri: 'priority',
  err: 'error',
  v: 'version',
  ts: 'timestamp',
  ttl: 'time to live',
  ctx: 'context reference',
  who: 'target',
  when: 'when',
  why: 'reason',
};

/** Fields of the standard envelope (Table 4). */
export const ENVELOPE: Words = {
  mid: 'message id',
  seq: 'sequence number',
  ts: 'timestamp',
  cid: 'correlation id',
  aid: 'causation id',
  sid: 'session id',
  ttl: 'time to live in seconds',
};

export const ENVELOPE_KEYS: readonly string[] = ['mid', 'seq', 'ts', 'cid', 'aid', 'sid', 'ttl'];

/** Identifiers are text even if numeric, so that `mid:007` keeps its zeros. */
export const IDENTIFIER_KEYS: ReadonlySet<string> = new Set(['mid', 'cid', 'aid', 'sid']);

const RANKS: ReadonlyMap<string, number> = new Map(ENVELOPE_KEYS.map((key, rank) => [key, rank]));

/** Compares metadata keys: those of Table 4 first, then by code unit. */
export function byEnvelope(a: string, b: string): number {
  const rankA = RANKS.get(a) ?? RANKS.size;
  const rankB = RANKS.get(b) ?? RANKS.size;
  return rankA - rankB || byCodeUnit(a, b);
}
