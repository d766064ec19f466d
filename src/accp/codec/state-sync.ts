/** State from one side to the other: deltas, and the whole where a delta does not fit (draft-benzing-accp-00, section 5.4). */

import { AccpError } from '../errors.js';
import type { JsonObject } from '../message/json.js';
import type { SessionParts } from '../session/session.js';
import type { EncodeResult } from './contract.js';
import { encode } from './encode.js';
import type { Engine } from './engine.js';

/**
 * Sends what has changed since the last version.
 *
 * @throws AccpError E1004 where a value is null, which a delta takes for "removed"
 */
export function sendDelta(values: JsonObject, parts: SessionParts, engine: Engine): EncodeResult {
  const { version, delta } = parts.state.delta(values);
  return encode({ intent: 'sync', operation: 'state', payload: { version, delta } }, parts, engine);
}

/** Sends the whole state, as a map of its own, so that its keys are not taken for abbreviations. */
export function sendFullState(values: JsonObject, version: number, parts: SessionParts, engine: Engine): EncodeResult {
  if (!Number.isSafeInteger(version))
    throw new AccpError({ code: 'E1004', path: 'version', message: 'is no whole number' });
  return encode({ intent: 'sync', operation: 'state', payload: { version, state: values } }, parts, engine);
}

/**
 * The whole state as it is, for a side that could not use a delta, or has another one.
 *
 * @param theirs the version of the other side's state, where it has one: ours has to be above it
 */
export function fullState(parts: SessionParts, engine: Engine, theirs = -1): readonly string[] {
  const { state } = parts;
  return sendFullState(state.values(), Math.max(state.version, theirs + 1), parts, engine).frames;
}
