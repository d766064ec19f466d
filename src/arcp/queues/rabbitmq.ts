/** ARCP over RabbitMQ (spec 003, "Transports": message queues). Public as `pegwire/arcp/rabbitmq`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { notifyListener } from '../../async/listeners.js';
import { backoff, withJitter } from '../../async/timers.js';
import { openRabbitmq, type RabbitmqOptions } from '../../channels/node/rabbitmq.js';
import type { QueueListener } from '../../channels/queue/dial.js';
import type { Dial } from '../client/types.js';
import type { Runtime } from '../runtime/runtime.js';
import { type DialOptions, dialOver, type ListenOptions, serveBus } from './listen.js';

export type { QueueListener, RabbitmqOptions };

/** Options of a listener on RabbitMQ. */
export interface ListenRabbitmqOptions extends ListenOptions, RabbitmqOptions {}

/** Options of a connection over RabbitMQ. */
export interface DialRabbitmqOptions extends DialOptions, RabbitmqOptions {}

const RECONNECT = { minDelayMs: 100, maxDelayMs: 5000 };

interface Serving extends QueueListener {
  /** Resolves when the connection to RabbitMQ has ended. */
  readonly lost: Promise<void>;
}

/**
 * Serves a runtime on RabbitMQ. Of several runtimes with the same name, one accepts each connection. The listener connects again after the
 * connection to RabbitMQ was lost.
 *
 * @throws ConnectionError `no-package` without `amqplib`; `closed` if RabbitMQ cannot be reached or refuses the queues
 * @throws TypeError if an option is invalid
 */
export async function listenRabbitmq(runtime: Runtime, options: ListenRabbitmqOptions = {}): Promise<QueueListener> {
  const closing = new AbortController();
  let serving = await serve(runtime, options);
  const follow = async (): Promise<void> => {
    for (let failures = 0; ; ) {
      await serving.lost;
      if (closing.signal.aborted) return;
      try {
        serving = await serve(runtime, options);
        failures = 0;
        if (closing.signal.aborted) await serving.close();
      } catch (error) {
        notifyListener(() => options.onError?.(error));
        const delayMs = withJitter(backoff(++failures, RECONNECT));
        await sleep(delayMs, undefined, { signal: closing.signal, ref: false }).catch(() => {});
      }
    }
  };
  const followed = follow();
  return {
    close: async () => {
      closing.abort();
      await serving.close();
      await followed;
    },
  };
}

async function serve(runtime: Runtime, options: ListenRabbitmqOptions): Promise<Serving> {
  const open = await openRabbitmq(options);
  const lost = new Promise<void>((resolve) => open.bus.onClosed(() => resolve()));
  return { lost, ...(await serveBus(runtime, open, 'rabbitmq', options)) };
}

/** Returns a function that connects to a runtime over RabbitMQ, for `openClient`. Each connection has a connection to RabbitMQ of its own. */
export function dialRabbitmq(options: DialRabbitmqOptions = {}): Dial {
  return dialOver(() => openRabbitmq(options), options);
}
