/** Fails the run in CI if a server that tests need does not answer, since they would be skipped. */
import process from 'node:process';
import { checkNats, checkRabbitmq } from './message-queues.js';
import { administer } from './postgres-server.js';

const SERVERS = [
  { name: 'PostgreSQL', variable: 'PEGWIRE_TEST_POSTGRES', check: () => administer() },
  { name: 'NATS', variable: 'PEGWIRE_TEST_NATS', check: checkNats },
  { name: 'RabbitMQ', variable: 'PEGWIRE_TEST_RABBITMQ', check: checkRabbitmq },
];

export default async function requireServers(): Promise<void> {
  if (process.env['CI'] === undefined) return;
  for (const { name, variable, check } of SERVERS)
    await check().catch((cause: unknown) => {
      throw new Error(`${name} does not answer; set ${variable} to its URL`, { cause });
    });
}
