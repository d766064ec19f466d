/** Streams that are being written, how fast their readers want them, and whether they do. */
import type { ArcpError } from '../../protocol/errors.js';
import { type Pace, Pacer } from '../../streams/pacer.js';

interface Open {
  readonly sessionId: string;
  readonly principal: string;
  readonly pacer: Pacer;
  /** Its reader wants no more of it. */
  readonly cancel: (error: ArcpError) => Promise<void>;
}

export class StreamRegistry {
  readonly #now: () => number;
  readonly #open = new Map<string, Open>();
  /** Of whole sessions. */
  readonly #paces = new Map<string, Pace>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A stream that is to be written: it goes as fast as its session does. */
  pacerFor(sessionId: string): Pacer {
    const pacer = new Pacer(this.#now);
    const pace = this.#paces.get(sessionId);
    if (pace !== undefined) pacer.set(sessionId, pace);
    return pacer;
  }

  add(streamId: string, open: Open): void {
    this.#open.set(streamId, open);
  }

  remove(streamId: string): void {
    this.#open.delete(streamId);
  }

  /** A stream of theirs that is being written here. */
  find(streamId: string, principal: string): Pick<Open, 'cancel'> | undefined {
    const open = this.#open.get(streamId);
    return open?.principal === principal ? open : undefined;
  }

  /** The pace of one stream. Whoever reads along sets it, too, and the slowest counts. */
  paceStream(streamId: string, by: { readonly id: string; readonly principal: string }, pace: Pace): void {
    const open = this.#open.get(streamId);
    if (open?.principal === by.principal) open.pacer.set(`${streamId} ${by.id}`, pace);
  }

  /** The pace of all streams of a session, also of those that will be. */
  paceSession(sessionId: string, pace: Pace): void {
    this.#paces.set(sessionId, pace);
    for (const open of this.#open.values()) if (open.sessionId === sessionId) open.pacer.set(sessionId, pace);
  }

  /** Whoever has set the pace of a session is not there any more. */
  forget(sessionId: string): void {
    this.#paces.delete(sessionId);
    for (const [streamId, { pacer }] of this.#open) pacer.unset([sessionId, `${streamId} ${sessionId}`]);
  }
}
