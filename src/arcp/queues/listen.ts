/** Runtimes and clients over a message bus. */
import { notifyListener } from '../../async/listeners.js';
import type { OpenBus } from '../../channels/node/nats.js';
import {
  type DialQueueOptions,
  dialQueue,
  type ListenQueueOptions,
  listenQueue,
  type QueueListener,
} from '../../channels/queue/dial.js';
import type { Dial } from '../client/types.js';
import { MAX_MESSAGE_BYTES } from '../protocol/codec.js';
import type { Runtime } from '../runtime/runtime.js';

/** The name under which runtimes serve on a message queue. */
export interface QueueName {
  /** The name; clients connect to one of the runtimes with the same name. @default 'default' */
  readonly name?: string | undefined;
  /** The beginning of all subjects. @default 'arcp' */
  readonly prefix?: string | undefined;
}

/** Options of a listener on a message queue. */
export interface ListenOptions extends Omit<ListenQueueOptions, 'maxTextBytes'>, QueueName {
  /** The longest message of a client in bytes; a longer one ends the connection. @default 4194304 (4 MiB) */
  readonly maxMessageBytes?: number | undefined;
}

/** Options of a connection over a message queue. */
export interface DialOptions extends Omit<DialQueueOptions, 'maxTextBytes' | 'finished'>, QueueName {
  /** The longest message in bytes. @default 33554432 (32 MiB) */
  readonly maxMessageBytes?: number | undefined;
}

/** Returns the beginning of the subjects of a name. */
export function subjectOf({ name = 'default', prefix = 'arcp' }: QueueName): string {
  return `${prefix}.${name}`;
}

/** Serves a runtime on a bus. */
export function serveBus(
  runtime: Runtime,
  { bus }: OpenBus,
  kind: string,
  { maxMessageBytes = MAX_MESSAGE_BYTES, ...options }: ListenOptions,
): Promise<QueueListener> {
  return listenQueue(
    bus,
    subjectOf(options),
    (channel) =>
      void runtime.accept(channel, { kind }).catch((error: unknown) => notifyListener(() => options.onError?.(error))),
    { ...options, maxTextBytes: maxMessageBytes },
  );
}

/** Returns a function that connects over a bus, which is closed with the connection. */
export function dialOver(open: () => Promise<OpenBus>, { maxMessageBytes, ...options }: DialOptions): Dial {
  return async () => {
    const { bus, close } = await open();
    const finished = (): void => void close().catch(() => {});
    try {
      return await dialQueue(bus, subjectOf(options), { ...options, maxTextBytes: maxMessageBytes, finished });
    } catch (error) {
      finished();
      throw error;
    }
  };
}
