/** ARCP over NATS (spec 003, "Transports": message queues). Public as `pegwire/arcp/nats`. */
import { type NatsConnectionLike, type NatsOptions, openNats } from '../../channels/node/nats.js';
import type { QueueListener } from '../../channels/queue/dial.js';
import type { Dial } from '../client/types.js';
import type { Runtime } from '../runtime/runtime.js';
import { type DialOptions, dialOver, type ListenOptions, serveBus } from './listen.js';

export {
  type NatsInbox,
  type NatsInboxOptions,
  type NatsOutbox,
  type NatsOutboxOptions,
  openNatsOutbox,
  serveNatsInbox,
  type WaitingCommand,
} from './inbox.js';
export type { NatsConnectionLike, NatsOptions, QueueListener };

/** Options of a listener on NATS. */
export interface ListenNatsOptions extends ListenOptions, NatsOptions {}

/** Options of a connection over NATS. */
export interface DialNatsOptions extends DialOptions, NatsOptions {}

/**
 * Serves a runtime on NATS. Of several runtimes with the same name, one accepts each connection. The listener returns by itself after the
 * connection to NATS was lost.
 *
 * @throws ConnectionError `no-package` without `@nats-io/transport-node`; `closed` if NATS cannot be reached or refuses the subjects
 * @throws TypeError if an option is invalid
 * @example
 * const { close } = await listenNats(runtime, { servers: 'nats://127.0.0.1:4222', name: 'build' });
 */
export async function listenNats(runtime: Runtime, options: ListenNatsOptions = {}): Promise<QueueListener> {
  return serveBus(runtime, await openNats(options), 'nats', options);
}

/**
 * Returns a function that connects to a runtime over NATS, for `openClient`. Without `connection`, each connection has a connection to NATS of its
 * own.
 *
 * @example
 * const client = await openClient(dialNats({ servers: 'nats://127.0.0.1:4222', name: 'build' }));
 */
export function dialNats(options: DialNatsOptions = {}): Dial {
  return dialOver(() => openNats(options), options);
}
