/** A network that is gone for ten seconds, while both sides go on speaking. */
import { expect, test } from 'vitest';
import type { Message, MessageInput } from '../../../src/accp/codec/index.js';
import { cuttingProxy } from '../../helpers/cutting-proxy.js';
import { openWorld } from './websocket-world.js';

/** Messages of each side, about one each 10 ms: some before, most during, and some after the cut. */
const COUNT = 1500;

const note = (n: number): MessageInput => ({ intent: 'sync', operation: 'note', payload: { n } });
const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
const NUMBERS = Array.from({ length: COUNT }, (_, n) => n);

test.each([
  ['frozen, so that nobody is told', 'freeze'],
  ['cut, and nobody can come back', 'cut'],
])('ten seconds without a network (%s): nothing is lost, nothing comes twice', async (_, how) => {
  const there: number[] = [];
  const here: number[] = [];
  const quick = { heartbeatMs: 1000, maxMissed: 2 };
  const world = await openWorld(({ payload }: Message) => {
    there.push(payload['n'] as number);
    return null;
  }, quick);
  const proxy = await cuttingProxy({ target: world.port });
  try {
    const states: string[] = [];
    const link = await world.connect({
      ...{ port: proxy.port, ...quick, handshakeTimeoutMs: 1000, reconnect: { minDelayMs: 100, maxDelayMs: 1000 } },
      onState: (state) => states.push(state),
    });
    const reading = (async () => {
      for await (const { payload } of link.messages) if (here.push(payload['n'] as number) === COUNT) return;
    })();
    const speak = async (say: (message: MessageInput) => Promise<unknown>): Promise<void> => {
      for (const n of NUMBERS) {
        await say(note(n));
        await wait(10);
      }
    };
    const spoken = Promise.all([speak(link.send), speak((message) => world.sockets.send(link.session.id, message))]);
    while (there.length < 100 || here.length < 100) await wait(10);
    proxy.freeze();
    if (how === 'cut') proxy.cut();
    await wait(10_000);
    const before = { there: there.length, here: here.length };
    if (how === 'freeze') proxy.cut();
    proxy.thaw();
    await spoken;
    while (there.length < COUNT || here.length < COUNT) {
      // What was lost at the very end shows when one of them says something.
      await link.send({ intent: 'ping', operation: 'heartbeat', payload: {} });
      await world.sockets.send(link.session.id, { intent: 'ping', operation: 'heartbeat', payload: {} });
      await wait(20);
    }
    await reading;
    console.log(
      `${how}: ${before.there} and ${before.here} messages before the network was back, ${there.length} and ${here.length} in the end;`,
      `${proxy.connections()} connections`,
    );
    expect(there).toEqual(NUMBERS);
    expect(here).toEqual(NUMBERS);
    expect(states).toEqual(['open', 'reconnecting', 'open']);
  } finally {
    await world.close();
    await proxy.close();
  }
});
