/** Streams that a client sends. They go with the connection. */
import type { MessageType, PayloadOf } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError } from '../protocol/errors.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';
import type { StreamOptions } from '../streams/content.js';
import { ChunkWriter, Pacer, paceOf } from '../streams/writer.js';
import type { Fields } from './commands.js';

interface UploadsHost {
  readonly say: <T extends MessageType>(type: T, payload: PayloadOf<T>, fields: Fields) => void;
  readonly drained: () => Promise<void> | undefined;
}

interface Upload {
  readonly pacer: Pacer;
  readonly controller: AbortController;
}

export class ClientUploads {
  readonly #host: UploadsHost;
  readonly #open = new Map<string, Upload>();

  constructor(host: UploadsHost) {
    this.#host = host;
  }

  open<K extends StreamKind>(about: Fields, options: StreamOptions<K>): ChunkWriter<K> {
    const { say, drained } = this.#host;
    const pacer = new Pacer(() => performance.now());
    const controller = new AbortController();
    const fields = (stream_id: string): Fields => ({ ...about, stream_id });
    return new ChunkWriter<K>(
      {
        pacer,
        signal: controller.signal,
        drained,
        open: (id, payload) => {
          this.#open.set(id, { pacer, controller });
          say('stream.open', payload, fields(id));
        },
        chunk: async (id, payload) => {
          controller.signal.throwIfAborted();
          say('stream.chunk', payload, fields(id));
        },
        end: async (id, type, payload) => {
          controller.signal.throwIfAborted();
          this.#open.delete(id);
          say(type, payload as never, fields(id));
        },
      },
      options,
    );
  }

  take(message: Envelope): boolean {
    const upload = message.stream_id === undefined ? undefined : this.#open.get(message.stream_id);
    if (upload === undefined) return false;
    if (message.type === 'backpressure') upload.pacer.set('runtime', paceOf(message.payload));
    else if (message.type === 'stream.error') this.#end(message.stream_id!, ArcpError.fromBody(message.payload));
    return true;
  }

  lost(): void {
    for (const id of [...this.#open.keys()])
      this.#end(id, new ArcpError('ABORTED', 'The connection has ended before the stream', { retryable: true }));
  }

  #end(id: string, error: ArcpError): void {
    this.#open.get(id)?.controller.abort(error);
    this.#open.delete(id);
  }
}
