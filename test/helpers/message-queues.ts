/** The NATS and RabbitMQ servers of the tests. */
import process from 'node:process';
import { openNats } from '../../src/channels/node/nats.js';
import { openRabbitmq } from '../../src/channels/node/rabbitmq.js';

export const natsUrl = process.env['PEGWIRE_TEST_NATS'] ?? 'nats://127.0.0.1:4222';
export const rabbitmqUrl = process.env['PEGWIRE_TEST_RABBITMQ'] ?? 'amqp://guest:guest@127.0.0.1:5672';

/** Connects to NATS and disconnects. @throws Error if it does not answer */
export async function checkNats(): Promise<void> {
  const { close } = await openNats({ servers: natsUrl, connectOptions: { timeout: 2000, reconnect: false } });
  await close();
}

/** Connects to RabbitMQ and disconnects. @throws Error if it does not answer */
export async function checkRabbitmq(): Promise<void> {
  const { close } = await openRabbitmq({ url: rabbitmqUrl, socketOptions: { timeout: 5000 } });
  await close();
}

const hintOf = (check: () => Promise<void>, name: string, variable: string): Promise<string> =>
  check().then(
    () => '',
    () => ` (skipped: ${name} does not answer; set ${variable} to its URL)`,
  );

/** The ends of the names of tests that need a server; empty if it answers. */
export const [natsHint, rabbitmqHint] = await Promise.all([
  hintOf(checkNats, 'NATS', 'PEGWIRE_TEST_NATS'),
  hintOf(checkRabbitmq, 'RabbitMQ', 'PEGWIRE_TEST_RABBITMQ'),
]);
