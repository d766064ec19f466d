import { type Channel, type Receiver, WriteConfirmations } from '../channels/channel.js';
import { ERROR_CODES } from './errors.js';
import { classify, type Message } from './message.js';

/** A pair of streams of messages, in the shape of the official SDK's `Stream`. */
export interface Stream<In = Message, Out = Message> {
  /** The messages from the other side. */
  readonly readable: ReadableStream<In>;
  /** The messages to the other side. */
  readonly writable: WritableStream<Out>;
}

/** A pair of streams of messages of any type. */
export interface AnyStream {
  readonly readable: ReadableStream<unknown>;
  readonly writable: WritableStream<never>;
}

/** Returns whether a transport is a pair of streams. */
export function isStream(transport: object): transport is AnyStream {
  return 'readable' in transport && 'writable' in transport && !('start' in transport);
}

/** The assumed size of a message in bytes, since its actual size is unknown. */
const MESSAGE_BYTES = 256;

/** Creates a channel over a pair of streams. */
export function streamChannel(stream: AnyStream): Channel {
  const writer = (stream.writable as WritableStream<unknown>).getWriter();
  const reader = stream.readable.getReader();
  let receiver: Receiver | undefined;
  let hasEnded = false;
  let pendingWrites = 0;
  const confirmations = new WriteConfirmations();
  let unpause: (() => void) | undefined;
  let paused: Promise<void> | undefined;

  const end = (error?: Error): void => {
    if (hasEnded) return;
    hasEnded = true;
    confirmations.break();
    receiver?.ended(error);
  };
  const fail = (thrown: unknown): void => end(thrown instanceof Error ? thrown : new Error(String(thrown)));
  const write = (message: unknown): void => {
    pendingWrites++;
    confirmations.sent();
    const confirm = confirmations.confirmation();
    writer
      .write(message)
      .then(() => confirm(), fail)
      .finally(() => pendingWrites--);
  };
  /** Handles a message that cannot be serialized: answers a request, and passes on the identifier of a response. */
  const reject = (value: unknown): void => {
    const item = classify(value);
    const id = 'message' in item ? (item.kind === 'notification' ? undefined : item.message.id) : item.id;
    if (id === undefined) receiver?.invalid('the message cannot be serialized as JSON');
    else if (item.kind === 'request' || (item.kind === 'invalid' && item.isCall === true)) {
      const error = { code: ERROR_CODES.invalidRequest, message: 'Invalid request: it cannot be serialized as JSON' };
      write({ jsonrpc: '2.0', id, error });
    } else receiver?.invalid('the message cannot be serialized as JSON', JSON.stringify({ id, result: null }));
  };
  const read = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      await paused;
      if (done || hasEnded) return end();
      let text: string | undefined;
      try {
        text = JSON.stringify(value);
      } catch {
        // The value is cyclic, nests too deeply or contains a bigint.
      }
      if (text === undefined) reject(value);
      else receiver?.text(text);
    }
  };

  return {
    start: (listener) => {
      receiver = listener;
      read().catch(fail);
    },
    send: (text) => {
      if (!hasEnded) write(JSON.parse(text));
    },
    ready: () => ((writer.desiredSize ?? 1) > 0 ? undefined : writer.ready.catch(() => undefined)),
    flushed: () => confirmations.wait(),
    backlog: () => pendingWrites * MESSAGE_BYTES,
    pause: () => {
      paused ??= new Promise((resolve) => {
        unpause = resolve;
      });
    },
    resume: () => {
      unpause?.();
      paused = undefined;
    },
    end: async () => {
      await writer.close().catch(() => undefined);
    },
    destroy: () => {
      end();
      unpause?.();
      reader.cancel().catch(() => undefined);
      writer.abort().catch(() => undefined);
    },
  };
}
