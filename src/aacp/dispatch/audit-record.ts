/** Records of an audit log as lines, each chained to the one before. */

import * as z from 'zod';
import { sha256Hex } from '../../text/sha256.js';
import type { AuditEntry, AuditRecord } from './audit.js';

/** What the first record follows, and the head of an empty log. */
export const GENESIS: string = '0'.repeat(64);

/** The end of a chain: what the next record goes on from. */
export interface ChainEnd {
  readonly seq: number;
  readonly chain: string;
}

export const EMPTY_CHAIN: ChainEnd = { seq: 0, chain: GENESIS };

const YEAR_ZERO = Date.parse('0000-01-01T00:00:00Z');
const YEAR_TEN_THOUSAND = Date.UTC(10_000, 0, 1);

const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** Members in the order in which they are written. */
const recordSchema = z.strictObject({
  seq: z.int().min(1),
  time: z.iso.datetime(),
  event: z.enum(['handed-over', 'refused', 'done', 'failed']),
  packet: z.string(),
  length: z.int().min(0),
  hash: hash.nullable(),
  verdict: z.enum(['valid', 'invalid']),
  codes: z.array(z.string()),
  reason: z.string().nullable(),
  attempt: z.int().min(1).nullable(),
  actor: z.string().nullable(),
  nonce: z.string().nullable(),
  previous: hash,
  chain: hash,
}) satisfies z.ZodType<AuditRecord>;

/**
 * The record that follows the end of a chain.
 *
 * @param now milliseconds since 1970
 * @throws TypeError when the clock gave no time
 */
export function nextRecord(end: ChainEnd, entry: AuditEntry, now: number): AuditRecord {
  // Beyond, ISO 8601 has other forms.
  if (!(now >= YEAR_ZERO && now < YEAR_TEN_THOUSAND)) throw new TypeError('clock must give milliseconds since 1970');
  const { event, packet, length, hash, verdict, codes, reason, attempt, actor, nonce } = entry;
  const body = {
    seq: end.seq + 1,
    time: new Date(now).toISOString(),
    ...{ event, packet, length, hash, verdict, codes, reason, attempt, actor, nonce },
    previous: end.chain,
  };
  return { ...body, chain: chainOf(body) };
}

/** The line of a record, without its line end: one spelling for each record, and nothing that a terminal would act on. */
export function lineOf(record: AuditRecord): string {
  return asciiJson(record);
}

/** The record of a line; `null` when the line is not exactly what `lineOf` gives for one. */
export function readRecord(line: string): AuditRecord | null {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return null;
  }
  const read = recordSchema.safeParse(json);
  // The schema gives the members in the order of writing, so that any other spelling shows.
  return read.success && asciiJson(read.data) === line ? read.data : null;
}

/** Whether the record is as it was when it was sealed. */
export function isSealed({ chain, ...body }: AuditRecord): boolean {
  return chain === chainOf(body);
}

function chainOf(body: Omit<AuditRecord, 'chain'>): string {
  return sha256Hex(`${body.previous}\n${asciiJson(body)}`);
}

/** JSON with all but ASCII escaped. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
