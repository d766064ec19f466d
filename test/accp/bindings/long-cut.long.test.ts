/** A network that is down for ten seconds, while both sides continue to send. */
import { expect, test } from 'vitest';
import type { Message, MessageInput } from '../../../src/accp/codec/index.js';
import { cuttingProxy } from '../../helpers/cutting-proxy.js';
import { startServer } from './websocket-fixture.js';

/** Messages of each side, about one per 10 ms: some before, most during, and some after the cut. */
const COUNT = 1500;

const note = (n: number): MessageInput => ({ intent: 'sync', operation: 'note', payload: { n } });
const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
const NUMBERS = Array.from({ length: COUNT }, (_, n) => n);

test.each([
  ['frozen, without a notification', 'freeze'],
  ['cut, without reconnection', 'cut'],
])('ten seconds without a network (%s): nothing is lost or repeated', async (_, how) => {
  const onServer: number[] = [];
  const onClient: number[] = [];
  const quick = { heartbeatMs: 1000, maxMissed: 2 };
  const fixture = await startServer(({ payload }: Message) => {
    onServer.push(payload['n'] as number);
    return null;
  }, quick);
  const proxy = await cuttingProxy({ target: fixture.port });
  try {
    const states: string[] = [];
    const link = await fixture.connect({
      ...{ port: proxy.port, ...quick, handshakeTimeoutMs: 1000, reconnect: { minDelayMs: 100, maxDelayMs: 1000 } },
      onState: (state) => states.push(state),
    });
    const reading = (async () => {
      for await (const { payload } of link.messages) if (onClient.push(payload['n'] as number) === COUNT) return;
    })();
    const speak = async (say: (message: MessageInput) => Promise<unknown>): Promise<void> => {
      for (const n of NUMBERS) {
        await say(note(n));
        await wait(10);
      }
    };
    const sending = Promise.all([speak(link.send), speak((message) => fixture.sockets.send(link.session.id, message))]);
    while (onServer.length < 100 || onClient.length < 100) await wait(10);
    proxy.freeze();
    if (how === 'cut') proxy.cut();
    await wait(10_000);
    const before = { onServer: onServer.length, onClient: onClient.length };
    if (how === 'freeze') proxy.cut();
    proxy.thaw();
    await sending;
    while (onServer.length < COUNT || onClient.length < COUNT) {
      // The loss of the last frames shows when one of the sides sends another.
      await link.send({ intent: 'ping', operation: 'heartbeat', payload: {} });
      await fixture.sockets.send(link.session.id, { intent: 'ping', operation: 'heartbeat', payload: {} });
      await wait(20);
    }
    await reading;
    console.log(
      `${how}: ${before.onServer} and ${before.onClient} messages before the network was back, ${onServer.length} and ${onClient.length} in the end;`,
      `${proxy.connections()} connections`,
    );
    expect(onServer).toEqual(NUMBERS);
    expect(onClient).toEqual(NUMBERS);
    expect(states).toEqual(['open', 'reconnecting', 'open']);
  } finally {
    await fixture.close();
    await proxy.close();
  }
});
