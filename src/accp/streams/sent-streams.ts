/** Sent streams, and the checks that prevent frames which the receiver must reject (draft-benzing-accp-00, section 10.4). */

import { accpError } from '../errors.js';
import type { ProfileMessage } from '../profiles/profile.js';
import type { Collection, Journal } from '../store/journal.js';
import { checkChunk } from './stream.js';

export type StreamFrame = Pick<ProfileMessage, 'intent' | 'schema' | 'payload'>;

interface Sent {
  /** The lowest index that was not sent. */
  readonly next: number;
  /** The sent indexes beyond it. */
  readonly ahead: readonly number[];
  /** The number of chunks; `null` until it is announced. */
  readonly count: number | null;
  readonly final: boolean;
  /** `true` if the end or a failure was sent. */
  readonly over: boolean;
}

const MAX_STREAMS = 4096;
/** The maximum number of chunks sent before one with a lower index: the default buffer of receivers. */
const MAX_AHEAD = 1024;

const NOTHING: Sent = { next: 0, ahead: [], count: null, final: false, over: false };

export class SentStreams {
  readonly #streams: Collection<Sent>;

  constructor(journal: Journal) {
    this.#streams = journal.collection('streams.sent');
  }

  /** Returns `true` if chunks were sent, but neither the end nor a failure. */
  isUnderWay(cid: string): boolean {
    return this.#streams.get(cid)?.over === false;
  }

  /** Checks a message. Throws AccpError E3003 for a chunk after the end, or an end with missing chunks; E1004 for contradictions. */
  check(cid: string, message: StreamFrame): void {
    if (message.schema !== 'ST' && message.intent !== 'end') return;
    const known = this.#streams.get(cid);
    if (isChunk(message)) this.#checkChunk(cid, known ?? NOTHING, message);
    if (message.intent !== 'end') return;
    const sent = isChunk(message) ? withChunk(known ?? NOTHING, message) : known;
    // A stream without chunks is ended by `end` alone, and a failed one is over already.
    if (sent === undefined || sent.over || isWhole(sent)) return;
    const how = sent.final ? `without chunk ${sent.next}` : 'without a final chunk';
    throw accpError('E3003', 'intent', `the stream ${cid} cannot be ended ${how}`, FINISH);
  }

  sent(cid: string, message: StreamFrame): void {
    const isPart = isChunk(message);
    if (this.#streams.size === 0 && !isPart) return;
    const known = this.#streams.get(cid);
    if (known === undefined && !isPart) return;
    const { intent } = message;
    const now = isPart ? withChunk(known ?? NOTHING, message) : known!;
    const over = now.over || intent === 'end' || intent === 'fail' || intent === 'cancel';
    if (now === known && over === known.over) return;
    this.#streams.set(cid, { ...now, over });
    if (this.#streams.size > MAX_STREAMS) this.#streams.takeOldest();
  }

  #checkChunk(cid: string, sent: Sent, message: StreamFrame): void {
    const { index, total, final } = partOf(message);
    if (sent.over || isWhole(sent)) {
      throw accpError('E3003', 'payload.chunk_index', `the stream ${cid} has ended`, OTHER);
    }
    if (index < sent.next || sent.ahead.includes(index)) {
      throw accpError('E1004', 'payload.chunk_index', `chunk ${index} of the stream ${cid} was sent before`, ONCE);
    }
    if (sent.final && index >= sent.count!) {
      const last = sent.count! - 1;
      throw accpError(
        'E3003',
        'payload.chunk_index',
        `chunk ${last} of the stream ${cid} was sent as the final one`,
        OTHER,
      );
    }
    if (sent.ahead.length >= MAX_AHEAD && index !== sent.next) {
      throw accpError('E1004', 'payload.chunk_index', `chunk ${sent.next} of the stream ${cid} must be sent first`);
    }
    const { next, count, ahead } = sent;
    const waiting = { has: (other: number) => ahead.includes(other) };
    const highest = Math.max(next - 1, ...ahead);
    checkChunk({ next, count, final: sent.final, waiting, highest }, { index, total, data: null, final });
  }
}

const FINISH = 'send the last chunk with is_final=true, or "fail:error" with the same correlation_id';
const ONCE = 'give each chunk its own index, beginning with 0';
const OTHER = 'start another stream with its own correlation_id';

/** Returns `true` if a message carries a chunk: the intent is `stream`, or `end` for the last one. */
function isChunk({ intent, schema, payload }: StreamFrame): boolean {
  if (schema !== 'ST') return false;
  return intent === 'stream' || (intent === 'end' && payload['chunk_index'] !== undefined);
}

function partOf({ payload }: StreamFrame) {
  const { chunk_index: index, total_chunks: total, is_final: final } = payload;
  return { index: index as number, total: total as number | undefined, final: final === true };
}

function withChunk(sent: Sent, message: StreamFrame): Sent {
  const { index, total, final } = partOf(message);
  const ahead = new Set(sent.ahead).add(index);
  let next = sent.next;
  while (ahead.delete(next)) next++;
  const count = final ? index + 1 : (total ?? sent.count);
  return { next, ahead: [...ahead], count, final: sent.final || final, over: sent.over };
}

function isWhole({ final, next, count }: Sent): boolean {
  return final && next === count;
}
