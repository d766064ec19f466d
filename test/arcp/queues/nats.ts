/** Names on the NATS server of the tests, whose streams are removed afterwards. */
import process from 'node:process';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { natsUrl } from '../../helpers/message-queues.js';

let names = 0;

export interface NatsWorld {
  readonly connection: NatsConnection;
  readonly name: string;
  /** Returns the dead letters so far. */
  readonly deadLetters: () => Promise<readonly DeadLetter[]>;
  /** Returns the number of waiting commands. */
  readonly waiting: () => Promise<number>;
  readonly remove: () => Promise<void>;
}

interface DeadLetter {
  readonly reason: { readonly code: string; readonly message: string };
  readonly deliveries: number;
  readonly message: string;
}

export async function natsWorld(): Promise<NatsWorld> {
  const connection = await connect({ servers: new URL(natsUrl).host });
  const manager = await jetstreamManager(connection);
  const name = `test-${process.pid}-${++names}`;
  const count = async (suffix: string): Promise<number> =>
    (await manager.streams.info(`arcp_${name}_${suffix}`)).state.messages;
  return {
    connection,
    name,
    waiting: () => count('inbox'),
    deadLetters: async () => {
      const total = await count('dead');
      const letters = Array.from({ length: total }, async (_, at) =>
        (await manager.streams.getMessage(`arcp_${name}_dead`, { seq: at + 1 }))!.json<DeadLetter>(),
      );
      return Promise.all(letters);
    },
    remove: async () => {
      for (const suffix of ['inbox', 'dead']) await manager.streams.delete(`arcp_${name}_${suffix}`).catch(() => {});
      await connection.close();
    },
  };
}
