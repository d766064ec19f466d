/** Messages for tests. */
import type { AnyEnvelope, MessageType } from '../../src/arcp/index.js';
import { readJson } from '../conformance/fixtures.js';

/** A message type of the conformance cases. */
export interface MessageCase {
  readonly id: MessageType;
  readonly group: string;
  readonly from: string;
  readonly command: boolean;
  readonly requires?: 'job_id' | 'stream_id';
  readonly minimal: Readonly<Record<string, unknown>>;
  readonly full: Readonly<Record<string, unknown>>;
  readonly invalid: readonly { readonly path: string; readonly payload: unknown }[];
}

export const MESSAGE_CASES: readonly MessageCase[] = (
  readJson('arcp/messages.json') as { readonly cases: readonly MessageCase[] }
).cases;

/** A text of the conformance cases, and whether it is a valid message. */
export interface EnvelopeCase {
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly type?: string;
  readonly error?: { readonly code: string; readonly paths: readonly string[]; readonly reason?: string };
}

export const ENVELOPE_CASES: readonly EnvelopeCase[] = (
  readJson('arcp/envelopes.json') as { readonly cases: readonly EnvelopeCase[] }
).cases;

/** An envelope with all ids that any message requires. */
export function envelope(type: string, payload: unknown, more: Readonly<Record<string, unknown>> = {}): AnyEnvelope {
  return {
    ...{ arcp: '1.0', id: 'msg_1', type, timestamp: '2026-05-07T21:30:00Z' },
    ...{ session_id: 'sess_1', job_id: 'job_1', stream_id: 'str_1', ...more },
    payload: payload as AnyEnvelope['payload'],
  };
}
