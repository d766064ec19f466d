/** Outcomes of decoded frames. */
import type { DecodeOutcome } from '../../accp/codec/contract.js';
import { AccpError } from '../../accp/errors.js';
import type { Message } from '../../accp/message/message.js';
import type { Session } from '../../accp/session/session.js';

/** Returns the frames to send back. */
export function repliesOf(outcome: DecodeOutcome): readonly string[] {
  if (outcome.outcome === 'dropped') return [];
  if (outcome.outcome === 'rejected') return outcome.reply === null ? [] : [outcome.reply];
  return outcome.replies;
}

export function messageOf(outcome: DecodeOutcome): Message | null {
  return outcome.outcome === 'message' || outcome.outcome === 'pending' ? (outcome.message ?? null) : null;
}

export interface StreamsEnd {
  readonly failed: readonly { readonly cid: string; readonly error: AccpError }[];
  /** Correlation identifiers. */
  readonly unfinished: readonly string[];
}

/** Reads the streams of a session, so that chunks do not fill its buffers. */
export class StreamReaders {
  readonly #session: Session;
  readonly #reading = new Set<string>();
  readonly #failed: { cid: string; error: AccpError }[] = [];

  constructor(session: Session) {
    this.#session = session;
    for (const cid of session.pendingStreams) this.read(cid);
  }

  read(cid: string): void {
    if (this.#reading.has(cid)) return;
    this.#reading.add(cid);
    void this.#drain(cid);
  }

  async end(): Promise<StreamsEnd> {
    // Lets pending reads finish: they wait for nothing else.
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
