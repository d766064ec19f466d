/** The clients of the cluster and the service in which its jobs have their effects, in a process of their own. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { dialOf, openClient } from '../../../src/arcp/client/index.js';
import type { Effect } from './effect.js';

export interface ClientsConfig {
  readonly host: string;
  readonly clients: number;
  /** The number of jobs that each client runs at the same time. */
  readonly parallel: number;
  /** The pause of a job after each step, in milliseconds. */
  readonly pauseMs: number;
  /** Milliseconds for everything. */
  readonly timeoutMs: number;
}

/** The messages that a client received, in order. */
export interface Heard {
  readonly sessionId: string;
  readonly messages: readonly string[];
}

export interface Report {
  readonly heard: readonly Heard[];
  readonly effects: readonly Effect[];
  /** The results or error codes of the jobs. */
  readonly outcomes: readonly unknown[];
  /** The number of jobs that were started. */
  readonly started: number;
}

/** The messages of the process: the address of the service, each end of a job, and everything at the end. */
export type ClientsMessage =
  | { readonly sink: string }
  | { readonly effect: Effect }
  | { readonly ended: number }
  | { readonly report: Report };

const tell = (message: ClientsMessage): void => void process.send!(message);

/** Waits for messages that are under way: a result may also be learned by asking for it, before its message arrives. */
async function quiet(messages: readonly string[]): Promise<void> {
  let count: number;
  let rounds = 0;
  do {
    count = messages.length;
    await pause(1000);
  } while (messages.length > count && ++rounds < 5);
}

async function main({ host, clients, parallel, pauseMs, timeoutMs }: ClientsConfig): Promise<void> {
  const effects: Effect[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      const effect = JSON.parse(text) as Effect;
      effects.push(effect);
      tell({ effect });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  tell({ sink: `http://${host}:${(server.address() as AddressInfo).port}/` });
  const urls = await new Promise<readonly string[]>((resolve) => process.once('message', resolve as () => void));
  // The next message ends the work.
  let isOver = false;
  process.once('message', () => (isOver = true));
  let connections = 0;
  let started = 0;
  const outcomes: unknown[] = [];
  const visit = async (): Promise<Heard> => {
    const messages: string[] = [];
    const client = await openClient(() => dialOf(urls[connections++ % urls.length]!)(), {
      onMessage: ({ id }) => messages.push(id),
      heartbeatMs: 500,
      reconnect: { minDelayMs: 20, maxDelayMs: 200 },
      timeoutMs,
    });
    const work = async (): Promise<void> => {
      do {
        started++;
        const result = client.invoke('work', { pauseMs }).result();
        outcomes.push(await result.catch((error: { readonly code?: string }) => error.code ?? String(error)));
        tell({ ended: outcomes.length });
      } while (!isOver);
    };
    await Promise.all(Array.from({ length: parallel }, work));
    await quiet(messages);
    const { session_id: sessionId } = client.session;
    await client.disconnect();
    return { sessionId, messages };
  };
  const all = Promise.all(Array.from({ length: clients }, visit));
  const late = new Promise<readonly Heard[]>((resolve) => setTimeout(() => resolve([]), timeoutMs).unref());
  const heard = await Promise.race([all, late]);
  tell({ report: { heard, effects, outcomes, started } });
}

process.on('disconnect', () => process.exit());
await main(JSON.parse(process.argv[2]!) as ClientsConfig);
