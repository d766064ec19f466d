/** Runtimes and clients over a message bus. */
import { notifyListener } from '../../async/listeners.js';
import type { Channel } from '../../channels/channel.js';
import { tokenCheck } from '../../channels/node/listen.js';
import {
  checkSubject,
  type DialQueueOptions,
  dialBus,
  type ListenQueueOptions,
  listenQueue,
  type OpenBus,
  type QueueListener,
} from '../../channels/queue/dial.js';
import type { Dial } from '../client/types.js';
import { MAX_MESSAGE_BYTES } from '../protocol/codec.js';
import { peerOf } from '../runtime/node/endpoint.js';
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
  /** Requires this bearer token in the `auth` of `session.open`, within ten seconds. @default none: the server of the queue controls the access */
  readonly token?: string | undefined;
}

/** Options of a connection over a message queue. */
export interface DialOptions extends Omit<DialQueueOptions, 'maxTextBytes' | 'finished'>, QueueName {
  /** The longest message in bytes. @default 33554432 (32 MiB) */
  readonly maxMessageBytes?: number | undefined;
}

/** Returns the beginning of the subjects of a name. @throws TypeError if the name or the prefix is invalid */
export function subjectOf({ name = 'default', prefix = 'arcp' }: QueueName): string {
  const subject = `${prefix}.${name}`;
  checkSubject(subject);
  return subject;
}

/** Serves a runtime on a bus, which is closed with the listener, or if it cannot be started. */
export async function serveBus(
  runtime: Runtime,
  { bus, close }: OpenBus,
  kind: string,
  { maxMessageBytes = MAX_MESSAGE_BYTES, token, ...options }: ListenOptions,
): Promise<QueueListener> {
  const isToken = tokenCheck(token ?? '');
  const accept = (channel: Channel): void => {
    const peer = peerOf({ isToken }, channel, { kind }, token !== undefined);
    runtime.accept(channel, peer).catch((error: unknown) => notifyListener(() => options.onError?.(error)));
  };
  try {
    const settings = { ...options, maxTextBytes: maxMessageBytes };
    const listener = await listenQueue(bus, subjectOf(options), accept, settings);
    return {
      close: async () => {
        await listener.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns a function that connects over a bus, which is closed with the connection. */
export function dialOver(open: () => Promise<OpenBus>, { maxMessageBytes, ...options }: DialOptions): Dial {
  return dialBus(open, subjectOf(options), { ...options, maxTextBytes: maxMessageBytes });
}
