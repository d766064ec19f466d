import { type Channel, type Receiver, WriteConfirmations } from '../channels/channel.js';
import { ERROR_CODES } from './errors.js';
import { classify, type Message } from './message.js';

/** Messages both ways, each an object. It is the shape of the official SDK's `Stream`. */
export interface Stream<In = Message, Out = Message> {
  readonly readable: ReadableStream<In>;
  readonly writable: WritableStream<Out>;
}

/** Any pair of streams of messages, whatever their types. */
export interface AnyStream {
  readonly readable: ReadableStream<unknown>;
  readonly writable: WritableStream<never>;
}

export function isStream(transport: object): transport is AnyStream {
  return 'readable' in transport && 'writable' in transport && !('start' in transport);
}

/** The size of a message is unknown: each counts as so many bytes. */
const BYTES = 256;

export function streamChannel(stream: AnyStream): Channel {
  const writer = (stream.writable as WritableStream<unknown>).getWriter();
  const reader = stream.readable.getReader();
  let receiver: Receiver | undefined;
  let isOver = false;
  let waiting = 0;
  const confirmations = new WriteConfirmations();
  let wake: (() => void) | undefined;
  let paused: Promise<void> | undefined;

  const over = (error?: Error): void => {
    if (isOver) return;
    isOver = true;
    confirmations.break();
    receiver?.ended(error);
  };
  const broken = (thrown: unknown): void => over(thrown instanceof Error ? thrown : new Error(String(thrown)));
  const write = (message: unknown): void => {
    waiting++;
    confirmations.sent();
    const taken = confirmations.confirmation();
    writer
      .write(message)
      .then(() => taken(), broken)
      .finally(() => waiting--);
  };
  /** Answers a request that has no JSON. Of a response, the identifier is passed on. */
  const refuse = (value: unknown): void => {
    const item = classify(value);
    const id = 'message' in item ? (item.kind === 'notification' ? undefined : item.message.id) : item.id;
    if (id === undefined) receiver?.invalid('the value has no JSON');
    else if (item.kind === 'request' || (item.kind === 'invalid' && item.isCall === true)) {
      const error = { code: ERROR_CODES.invalidRequest, message: 'Invalid request: it has no JSON' };
      write({ jsonrpc: '2.0', id, error });
    } else receiver?.invalid('the value has no JSON', JSON.stringify({ id, result: null }));
  };
  const read = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      await paused;
      if (done || isOver) return over();
      let text: string | undefined;
      try {
        text = JSON.stringify(value);
      } catch {
        // Cyclic, too deep, or with a bigint: no message that could have come over a wire.
      }
      if (text === undefined) refuse(value);
      else receiver?.text(text);
    }
  };

  return {
    start: (given) => {
      receiver = given;
      read().catch(broken);
    },
    send: (text) => {
      if (!isOver) write(JSON.parse(text));
    },
    ready: () => ((writer.desiredSize ?? 1) > 0 ? undefined : writer.ready.catch(() => undefined)),
    flushed: () => confirmations.wait(),
    backlog: () => waiting * BYTES,
    pause: () => {
      paused ??= new Promise((resolve) => {
        wake = resolve;
      });
    },
    resume: () => {
      wake?.();
      paused = undefined;
    },
    end: async () => {
      await writer.close().catch(() => undefined);
    },
    destroy: () => {
      over();
      wake?.();
      reader.cancel().catch(() => undefined);
      writer.abort().catch(() => undefined);
    },
  };
}
