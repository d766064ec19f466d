/** The standard envelope in a frame's metadata (draft-benzing-accp-00, section 3.5, Table 4). */

import { ownText } from '../../text/own-text.js';
import type { Frame, Value } from '../ast.js';
import { type AccpError, accpError } from '../errors.js';
import { sourceText } from '../message/read-value.js';
import { readTableField, type TableField } from './table-field.js';

export interface ReceivedEnvelope {
  readonly mid: string;
  readonly seq: number;
  readonly ts: number | undefined;
  readonly ttl: number | undefined;
  readonly cid: string | undefined;
  readonly aid: string | undefined;
  readonly sid: string | undefined;
  /** The position in a split message (section 3.4); `undefined` for a whole one. */
  readonly part: Part | undefined;
  /** The change of the tables for compact frames. */
  readonly table: TableField | undefined;
  /** `true` if strings are transliterated, although the announcement of that may not have been read. */
  readonly isTransliterated?: boolean | undefined;
}

export interface Part {
  readonly index: number;
  readonly total: number;
  /** The depth in the first value at which the frame continues the previous one; `undefined` if it begins a new value. */
  readonly cut: number | undefined;
}

/** The maximum length of an identifier: peers choose identifiers, which are stored in memory. */
const MAX_ID = 256;

/**
 * Reads the metadata of a frame. Throws AccpError if `mid` or `seq` is invalid; `fault` is the error of
 * another field, reported after the number is used up.
 */
export function readEnvelope(frame: Frame): {
  readonly envelope: ReceivedEnvelope;
  readonly fault: AccpError | undefined;
} {
  const read = new Fields();
  let mid: string | undefined;
  let cid: string | undefined;
  let aid: string | undefined;
  let sid: string | undefined;
  let seq: number | undefined;
  let ts: number | undefined;
  let ttl: number | undefined;
  let idx: number | undefined;
  let tot: number | undefined;
  let cut: number | undefined;
  let table: TableField | undefined;
  let isTransliterated = false;
  for (const { key, value } of frame.metadata ?? []) {
    switch (key) {
      case 'mid':
        mid = read.identifier(key, value);
        break;
      case 'cid':
        cid = read.identifier(key, value);
        break;
      case 'aid':
        aid = read.identifier(key, value);
        break;
      case 'sid':
        sid = read.identifier(key, value);
        break;
      case 'seq':
        seq = read.count(key, value);
        break;
      case 'ts':
        ts = read.count(key, value);
        break;
      case 'ttl':
        ttl = read.count(key, value);
        break;
      case 'idx':
        idx = read.count(key, value);
        break;
      case 'tot':
        tot = read.count(key, value);
        break;
      case 'cut':
        cut = read.count(key, value);
        break;
      case 'tbl':
        // Reads any other value as an invalid change of tables.
        table = readTableField(identifierOf(value) ?? '');
        break;
      case 'txt':
        isTransliterated = true;
        break;
    }
  }
  if (mid === undefined) throw missing('mid');
  if (seq === undefined) throw missing('seq');
  const part = tot === undefined ? undefined : { index: idx ?? 0, total: tot, cut };
  return { envelope: { mid, seq, ts, ttl, cid, aid, sid, part, table, isTransliterated }, fault: read.fault };
}

/** Returns an identifier, which is text even if numeric: `mid:007` keeps its zeros. Does not retain the text of the frame. */
function identifierOf(value: Value): string | undefined {
  const text = value.kind === 'string' ? value.value : sourceText(value);
  return text === undefined || text.length > MAX_ID ? undefined : ownText(text);
}

/** A reader of fields, with the first error. */
class Fields {
  fault: AccpError | undefined;

  identifier(key: string, value: Value): string | undefined {
    const known = identifierOf(value);
    if (known !== undefined) return known;
    const text = sourceText(value);
    const message =
      text === undefined ? `must be an identifier; got a ${value.kind}` : `must have at most ${MAX_ID} characters`;
    return this.#reject(key, message);
  }

  count(key: string, value: Value): number | undefined {
    if (value.kind === 'integer' && typeof value.value === 'number' && value.value >= 0) return value.value;
    const message = value.kind === 'integer' ? 'is out of range' : `must be an integer; got a ${value.kind}`;
    return this.#reject(key, message);
  }

  #reject(key: string, message: string): undefined {
    const error = accpError('E1004', `metadata.${key}`, message);
    if (key === 'mid' || key === 'seq') throw error;
    this.fault ??= error;
  }
}

function missing(key: string): AccpError {
  return accpError(
    'E1001',
    `metadata.${key}`,
    `The frame has no "${key}" in its metadata.`,
    'every frame must have mid and seq (section 3.5)',
  );
}

interface SentEnvelope extends Partial<Omit<ReceivedEnvelope, 'mid' | 'seq' | 'ts' | 'table'>> {
  readonly mid: string;
  readonly seq: number;
  readonly ts: number;
  /** The text of `tbl`. */
  readonly table?: string | undefined;
}

/** A metadata block without its number, which is assigned last: the texts before and after it. */
export interface MetadataAround {
  readonly before: string;
  readonly after: string;
}

/** Returns the metadata block in canonical form, in the order of Table 4. Throws AccpError E1004 for an invalid identifier. */
export function metadataText(envelope: SentEnvelope): string {
  const { before, after } = metadataAround(envelope);
  return before + envelope.seq + after;
}

/** Returns the texts around the number, in canonical form. Throws AccpError E1004 for an invalid identifier. */
export function metadataAround({
  mid,
  ts,
  cid,
  aid,
  sid,
  ttl,
  part,
  table,
  isTransliterated = false,
}: Omit<SentEnvelope, 'seq'>): MetadataAround {
  const before = `[mid:${identifier('mid', mid)},seq:`;
  let after = `,ts:${ts}`;
  if (cid !== undefined) after += `,cid:${identifier('cid', cid)}`;
  if (aid !== undefined) after += `,aid:${identifier('aid', aid)}`;
  if (sid !== undefined) after += `,sid:${identifier('sid', sid)}`;
  if (ttl !== undefined) after += `,ttl:${ttl}`;
  if (part?.cut !== undefined) after += `,cut:${part.cut}`;
  if (part !== undefined) after += `,idx:${part.index}`;
  if (table !== undefined) after += `,tbl:${table}`;
  if (part !== undefined) after += `,tot:${part.total}`;
  if (isTransliterated) after += ',txt:1';
  return { before, after: `${after}]` };
}

const PLAIN = /^[A-Za-z0-9_.-]+$/;
const VISIBLE = /^[!-~]+$/;
const DELIMITER = /[@>:{}[\]|$,~\\]/g;

function identifier(key: string, text: string): string {
  if (text.length <= MAX_ID) {
    if (PLAIN.test(text)) return text;
    if (VISIBLE.test(text)) return text.replace(DELIMITER, '\\$&');
  }
  throw accpError(
    'E1004',
    `envelope.${FULL_NAMES[key] ?? key}`,
    `an identifier must be 1 to ${MAX_ID} visible ASCII characters without spaces`,
  );
}

const FULL_NAMES: Readonly<Record<string, string>> = {
  mid: 'msg_id',
  cid: 'correlation_id',
  aid: 'causation_id',
  sid: 'session_id',
};

const AGENT = /^[A-Za-z0-9_-]{1,256}$/;
const IDENTIFIER = /^[!-~]{1,256}$/;

export const isAgentName = (name: unknown): name is string => typeof name === 'string' && AGENT.test(name);

export const isIdentifier = (id: unknown): id is string => typeof id === 'string' && IDENTIFIER.test(id);

/** Returns a valid name of an agent. Throws TypeError if it is invalid. */
export function checkAgentName(agent: string): string {
  if (isAgentName(agent)) return agent;
  const shown = typeof agent === 'string' ? `"${agent}"` : String(agent);
  throw new TypeError(`Invalid agent name ${shown}; use 1 to 256 letters, digits, "-" and "_"`);
}
