/** ARCP over RabbitMQ while the connections to the server are cut. */
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openClient } from '../../../src/arcp/client/index.js';
import { dialRabbitmq, listenRabbitmq } from '../../../src/arcp/queues/rabbitmq.js';
import { createRuntime, memoryStore } from '../../../src/arcp/runtime/index.js';
import { type CuttingProxy, cuttingProxy } from '../../helpers/cutting-proxy.js';
import { rabbitmqHint, rabbitmqUrl } from '../../helpers/message-queues.js';

const STEPS = 40;
const FAST = { heartbeatMs: 100, timeoutMs: 1000, retransmitMs: 50 };

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

let names = 0;

/** A relay to RabbitMQ, and the address through it. */
async function relay(): Promise<{ readonly proxy: CuttingProxy; readonly url: string }> {
  const proxy = await cuttingProxy({ target: Number(new URL(rabbitmqUrl).port || 5672) });
  ending.push(proxy.close);
  const url = new URL(rabbitmqUrl);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return { proxy, url: url.href };
}

/** A runtime and a client that reach RabbitMQ through a relay each, and a job that reports steps. */
async function world() {
  const name = `test-${process.pid}-${++names}`;
  const [ofRuntime, ofClient] = [await relay(), await relay()];
  const store = memoryStore();
  const runtime = createRuntime({ store });
  ending.push(() => runtime.close());
  let steps = 0;
  runtime.tool('work', { durable: true }, async (_, { progress }) => {
    for (let n = 0; n < STEPS; n++) {
      await progress({ message: `step ${n}` });
      steps++;
      await sleep(20);
    }
    return 'done';
  });
  const listener = await listenRabbitmq(runtime, { ...FAST, url: ofRuntime.url, name });
  ending.push(listener.close);
  runtime.start();
  const heard: string[] = [];
  const client = await openClient(dialRabbitmq({ ...FAST, url: ofClient.url, name, connectTimeoutMs: 1000 }), {
    onMessage: ({ id }) => heard.push(id),
    reconnect: { minDelayMs: 20, maxDelayMs: 200 },
  });
  ending.push(() => client.disconnect());
  /** Compares what the client has heard with the log. */
  const expectAllHeard = async (): Promise<void> => {
    const sessionId = client.session.session_id;
    const stored = (await store.readEvents({ sessionId, limit: Number.POSITIVE_INFINITY })).map(({ id }) => id);
    const known = new Set(stored);
    expect(stored.length).toBeGreaterThan(STEPS);
    expect(heard.filter((id) => known.has(id))).toEqual(stored);
  };
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await sleep(5);
  };
  return { ofRuntime: ofRuntime.proxy, ofClient: ofClient.proxy, client, steps: () => steps, until, expectAllHeard };
}

describe.skipIf(rabbitmqHint !== '')(`a runtime on RabbitMQ${rabbitmqHint}`, () => {
  test('listens again after its connection was cut, and its client resumes without loss or repetition', async () => {
    const { ofRuntime, ofClient, client, steps, until, expectAllHeard } = await world();
    const result = client.invoke('work').result();
    await until(() => steps() > 5);
    const [before, clientBefore] = [ofRuntime.connections(), ofClient.connections()];
    ofRuntime.cut();
    await until(() => ofRuntime.connections() > before && ofClient.connections() > clientBefore);
    expect(await result).toBe('done');
    await expectAllHeard();
    expect(await client.invoke('work').result()).toBe('done');
    await expectAllHeard();
  });

  test('keeps the job of a client whose connection was cut, and sends it what it missed', async () => {
    const { ofRuntime, ofClient, client, steps, until, expectAllHeard } = await world();
    const [before, clientBefore] = [ofRuntime.connections(), ofClient.connections()];
    const result = client.invoke('work').result();
    await until(() => steps() > 5);
    ofClient.cut();
    expect(await result).toBe('done');
    await expectAllHeard();
    expect(ofClient.connections()).toBeGreaterThan(clientBefore);
    expect(ofRuntime.connections()).toBe(before);
  });
});
