/** What a connection may take, with its defaults. */
import { MAX_LINE_BYTES } from '../channels/line-decoder.js';
import { MAX_BATCH } from './reading.js';

export interface Limits {
  readonly maxBatch?: number | undefined;
  readonly maxInFlight?: number | undefined;
  readonly maxBacklog?: number | undefined;
  readonly maxLineBytes?: number | undefined;
  readonly grace?: number | undefined;
}

export interface ResolvedLimits {
  /** Entries of a batch. */
  readonly maxBatch: number;
  /** Requests that are worked on at a time. */
  readonly maxInFlight: number;
  /** Bytes that wait to be written. */
  readonly maxBacklog: number;
  /** Bytes of a message that is sent. */
  readonly maxLineBytes: number;
  /** Seconds for answers after the other side has ended. */
  readonly grace: number;
}

/** @throws TypeError on limits that are none */
export function resolveLimits(limits: Limits): ResolvedLimits {
  const { maxBatch = MAX_BATCH, maxInFlight = 65_536, maxBacklog = 64 * 1024 * 1024 } = limits;
  const { maxLineBytes = MAX_LINE_BYTES, grace = 10 } = limits;
  for (const [name, value] of Object.entries({ maxBatch, maxInFlight, maxBacklog, maxLineBytes }))
    if (!(value >= 1)) throw new TypeError(`${name} is a number from 1 on; got ${value}`);
  if (!(grace >= 0)) throw new TypeError(`grace is a number of seconds from 0 on; got ${grace}`);
  return { maxBatch, maxInFlight, maxBacklog, maxLineBytes, grace };
}
