/** Errors as frames, both ways (draft-benzing-accp-00, section 3.6). */
import type { Frame, Param, Value } from '../ast.js';
import type { AccpError } from '../errors.js';
import { keyTable } from '../message/abbreviations.js';
import { isMarked, isPlainText, transliterate } from '../message/transliterate.js';
import { createWriting, writeParam } from '../message/write-value.js';
import { errorPayloadOf } from '../profiles/error.js';
import type { SessionParts } from '../session/session.js';
import { bodyText, type Engine, noteFrame, send, textState } from './engine.js';

/** What an error frame answers. */
interface Cause {
  readonly cid?: string | undefined;
  /** Its identifier: the frame's `aid`. */
  readonly mid?: string | undefined;
}

export function isErrorFrame({ intent, operation }: Pick<Frame, 'intent' | 'operation'>): boolean {
  return intent === 'fail' && operation === 'error';
}

/** Writes and sends the frame that tells the other side of an error. */
export function sendError(error: AccpError, cause: Cause, parts: SessionParts, engine: Engine): string {
  const { agent } = parts.options;
  const { writing } = textState(engine, parts, '');
  const sent = send(engine, parts, {
    agent,
    body: errorBody(agent, error, writing === 'transliterate'),
    ts: parts.runtime.now(),
    cid: cause.cid,
    aid: cause.mid,
    // What tells of a broken sequence is said anew with every frame that is refused; and of what could not be read, nobody
    // knows whose it was.
    keep: error.code !== 'E3003' && cause.mid !== undefined,
  });
  if (parts.runtime.log !== undefined) noteFrame('sent', sent, parts, engine);
  return sent.text;
}

/** Longest reason that is told, in characters: a frame has its limits (section 3.4). */
const MAX_REASON = 120;

/**
 * Header and body of an error frame. It has to be possible to tell of any error: what a text holds, or how long it is, must
 * not matter.
 *
 * @param transliterates whether the other side undoes transliteration; else a reason is told in words that a frame can hold
 */
export function errorBody(agent: string, error: AccpError, transliterates: boolean): string {
  return bodyText(agent, 'fail', 'error', errorParams(error, transliterates));
}

function errorParams(error: AccpError, transliterates: boolean): Param[] {
  const table = keyTable('ER');
  const { code, message, retryable, ...details } = errorPayloadOf(error);
  const params: Param[] = [];
  for (const [key, value] of Object.entries({ code, message, retryable, ...details })) {
    const said = typeof value === 'string' ? told(value.slice(0, MAX_REASON), transliterates) : value!;
    params.push(writeParam(table.abbreviate(key), said, createWriting({ text: 'reject' })));
  }
  return [...params, { key: 'schema', value: { kind: 'string', value: 'ER' } }];
}

function told(text: string, transliterates: boolean): string {
  if (transliterates) return transliterate(text);
  return isPlainText(text) && !isMarked(text) ? text : slug(text);
}

/** A sentence in words that any frame can hold, as the draft writes reasons: `connection_timed_out`. */
function slug(text: string): string {
  const words = text.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_+|_+$/g, '');
  return /[A-Za-z]/.test(words) && !/^(?:true|false)$/.test(words) ? words : `error_${words}`;
}

/** What a report of a gap says: the number that the other side waits for. */
export function expectedOf(frame: Frame): number | undefined {
  if (!isErrorFrame(frame)) return undefined;
  if (textOf(frame, 'code') !== 'E3003') return undefined;
  return countOf(frame, 'expected');
}

/** A whole number of a payload. */
export function countOf({ payload }: Frame, key: string): number | undefined {
  const value = memberOf(payload, key);
  const isCount = value?.kind === 'integer' && typeof value.value === 'number' && value.value >= 0;
  return isCount ? (value.value as number) : undefined;
}

function textOf({ payload }: Frame, key: string): string | undefined {
  const value = memberOf(payload, key);
  return value?.kind === 'string' ? value.value : undefined;
}

function memberOf(payload: readonly Param[], key: string): Value | undefined {
  return payload.find((param) => param.key === key)?.value;
}
