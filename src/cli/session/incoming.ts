/** What decoded frames give and ask for. */
import type { DecodeOutcome } from '../../accp/codec/contract.js';
import { AccpError } from '../../accp/errors.js';
import type { Message } from '../../accp/message/message.js';
import type { Session } from '../../accp/session/session.js';

/** Returns the frames that a decoded frame asks to be sent back, in order. */
export function repliesOf(outcome: DecodeOutcome): readonly string[] {
  if (outcome.outcome === 'dropped') return [];
  if (outcome.outcome === 'rejected') return outcome.reply === null ? [] : [outcome.reply];
  return outcome.replies;
}

/** Returns the message that a decoded frame gives, where it gives one. */
export function messageOf(outcome: DecodeOutcome): Message | null {
  return outcome.outcome === 'message' || outcome.outcome === 'pending' ? (outcome.message ?? null) : null;
}

export interface StreamsEnd {
  readonly failed: readonly { readonly cid: string; readonly error: AccpError }[];
  /** The correlation identifiers of those that have not come to their end. */
  readonly unfinished: readonly string[];
}

/** Reads all streams of a session to their ends, so that their chunks do not wait in its buffers. */
export class StreamReaders {
  readonly #session: Session;
  readonly #reading = new Set<string>();
  readonly #failed: { cid: string; error: AccpError }[] = [];

  constructor(session: Session) {
    this.#session = session;
    for (const cid of session.pendingStreams) this.read(cid);
  }

  /** Reads a stream, unless it is being read. */
  read(cid: string): void {
    if (this.#reading.has(cid)) return;
    this.#reading.add(cid);
    void this.#drain(cid);
  }

  /** How the streams stand. Errors that come later, such as that of closing, are not told any more. */
  async end(): Promise<StreamsEnd> {
    // What has come is read by then: reading waits for nothing else.
    await new Promise((resolve) => setImmediate(resolve));
    return { failed: [...this.#failed], unfinished: [...this.#reading] };
  }

  async #drain(cid: string): Promise<void> {
    try {
      for await (const _ of this.#session.stream(cid));
    } catch (thrown) {
      if (!(thrown instanceof AccpError)) throw thrown;
      this.#failed.push({ cid, error: thrown });
    }
    this.#reading.delete(cid);
  }
}
