import type { Duplex } from 'node:stream';
import { deferred } from '../../../async/listeners.js';
import { after } from '../../../async/timers.js';
import type { QuicConnection } from './driver.js';
import { guard, type MatrixConnectionLike, type MatrixStream } from './matrix-package.js';
import { quicError } from './reasons.js';
import { WebDuplex } from './web-duplex.js';

/** Milliseconds between two looks at what the other side has acknowledged; quiche has no event for it. */
const POLL_MS = 5;
/** Milliseconds for the acknowledgements of a side that may be gone. */
const ACKNOWLEDGED_MS = 2000;

/** One side of a connection. */
export class MatrixConnection implements QuicConnection {
  readonly #connection: MatrixConnectionLike;
  readonly #onError: (error: unknown) => void;
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>;
  readonly #streams = new Set<Duplex>();
  /** Streams of which the other side may not have everything. */
  readonly #unacknowledged = new Set<number>();
  #isClosing = false;
  #isIdle = deferred();

  constructor(connection: MatrixConnectionLike, onError: (error: unknown) => void) {
    this.#connection = connection;
    this.#onError = onError;
    this.ended = connection.closedP;
  }

  readonly isOpen = (): boolean => {
    const { conn } = this.#connection;
    return !(this.#isClosing || conn.isDraining() || conn.isClosed());
  };

  readonly openStream = (): Duplex => this.add(this.#connection.newStream('bidi'));

  /** Adds a stream that one of the sides has opened. */
  add(stream: MatrixStream): Duplex {
    guard(stream, this.#onError);
    const duplex = new WebDuplex(stream, quicError);
    this.#unacknowledged.add(stream.streamId);
    this.#streams.add(duplex);
    duplex.once('close', () => {
      this.#streams.delete(duplex);
      if (this.#streams.size === 0) this.#isIdle.resolve();
    });
    void stream.closedP.then(() => setImmediate(() => endWriting(duplex)));
    return duplex;
  }

  readonly close = async (): Promise<void> => {
    this.#isClosing = true;
    this.#isIdle = deferred();
    if (this.#streams.size > 0) await Promise.race([this.#isIdle.promise, this.ended]);
    await this.#acknowledged();
    // Resolves after the draining period (RFC 9000, section 10.2), which concerns late packets only.
    this.#connection.stop({ force: true }).catch(this.#onError);
  };

  /** Resolves when the other side has acknowledged all data, since closing a connection discards the rest. */
  async #acknowledged(): Promise<void> {
    for (let waits = ACKNOWLEDGED_MS / POLL_MS; waits > 0; waits--) {
      for (const id of this.#unacknowledged) if (!this.#isPending(id)) this.#unacknowledged.delete(id);
      const { conn } = this.#connection;
      if (this.#unacknowledged.size === 0 || conn.isDraining() || conn.isClosed()) return;
      await new Promise<void>((resolve) => void after(POLL_MS, resolve));
    }
  }

  #isPending(streamId: number): boolean {
    try {
      this.#connection.conn.streamCapacity(streamId);
      return true;
    } catch {
      return false;
    }
  }
}

/** Ends a stream whose connection has ended before its output did, when everything is read: nothing else reports that to a side that only writes. */
function endWriting(duplex: Duplex): void {
  if (duplex.writableEnded || duplex.destroyed) return;
  const end = (): void => void duplex.destroy(quicError(undefined));
  if (duplex.readableEnded) end();
  else duplex.once('end', end);
}
