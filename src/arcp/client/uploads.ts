/** Streams that a client sends. They end with the connection. */
import type { MessageType, PayloadOf } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError } from '../protocol/errors.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';
import type { StreamOptions } from '../streams/content.js';
import { ChunkWriter, RateLimiter, rateLimitOf } from '../streams/writer.js';
import type { Fields } from './commands.js';

interface UploadsHost {
  readonly send: <T extends MessageType>(type: T, payload: PayloadOf<T>, fields: Fields) => void;
  readonly drained: () => Promise<void> | undefined;
}

interface Upload {
  readonly rateLimiter: RateLimiter;
  readonly controller: AbortController;
}

export class ClientUploads {
  readonly #host: UploadsHost;
  readonly #open = new Map<string, Upload>();

  constructor(host: UploadsHost) {
    this.#host = host;
  }

  open<K extends StreamKind>(target: Fields, options: StreamOptions<K>): ChunkWriter<K> {
    const { send, drained } = this.#host;
    const rateLimiter = new RateLimiter(() => performance.now());
    const controller = new AbortController();
    const fields = (stream_id: string): Fields => ({ ...target, stream_id });
    return new ChunkWriter<K>(
      {
        rateLimiter: rateLimiter,
        signal: controller.signal,
        drained,
        open: (id, payload) => {
          this.#open.set(id, { rateLimiter: rateLimiter, controller });
          send('stream.open', payload, fields(id));
        },
        chunk: async (id, payload) => {
          controller.signal.throwIfAborted();
          send('stream.chunk', payload, fields(id));
        },
        end: async (id, type, payload) => {
          controller.signal.throwIfAborted();
          this.#open.delete(id);
          send(type, payload as never, fields(id));
        },
      },
      options,
    );
  }

  handle(message: Envelope): boolean {
    const upload = message.stream_id === undefined ? undefined : this.#open.get(message.stream_id);
    if (upload === undefined) return false;
    if (message.type === 'backpressure') upload.rateLimiter.set('runtime', rateLimitOf(message.payload));
    else if (message.type === 'stream.error') this.#end(message.stream_id!, ArcpError.fromBody(message.payload));
    return true;
  }

  disconnect(): void {
    for (const id of [...this.#open.keys()])
      this.#end(id, new ArcpError('ABORTED', 'The connection was lost before the stream ended', { retryable: true }));
  }

  #end(id: string, error: ArcpError): void {
    this.#open.get(id)?.controller.abort(error);
    this.#open.delete(id);
  }
}
