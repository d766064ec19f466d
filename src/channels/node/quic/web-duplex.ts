import { Duplex } from 'node:stream';
import type {
  ReadableStream,
  ReadableStreamDefaultReader,
  WritableStream,
  WritableStreamDefaultWriter,
} from 'node:stream/web';
import { ignoreRejection } from '../../../async/listeners.js';

/** Both directions of a connection as web streams. */
export interface WebStreams {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

/** A stream of Node over web streams. Unlike that of `Duplex.fromWeb`, each direction ends by itself. */
export class WebDuplex extends Duplex {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #errorOf: (reason: unknown) => Error;

  /** @param errorOf converts the reason for which a web stream failed */
  constructor({ readable, writable }: WebStreams, errorOf: (reason: unknown) => Error) {
    super({ allowHalfOpen: true });
    this.#reader = readable.getReader();
    this.#writer = writable.getWriter();
    this.#errorOf = errorOf;
  }

  override _read(): void {
    this.#reader.read().then(
      ({ done, value }) => void this.push(done ? null : value),
      (reason: unknown) => void this.destroy(this.#errorOf(reason)),
    );
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.#settle(this.#writer.write(chunk), done);
  }

  override _final(done: (error?: Error) => void): void {
    this.#settle(this.#writer.close(), done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    ignoreRejection(this.#reader.cancel(error));
    ignoreRejection(this.#writer.abort(error));
    done(error);
  }

  #settle(promise: Promise<void>, done: (error?: Error) => void): void {
    promise.then(
      () => done(),
      (reason: unknown) => done(this.#errorOf(reason)),
    );
  }
}
