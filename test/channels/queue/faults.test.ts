/** Channels over a bus that loses, repeats and reorders messages, and the control that shows that their numbers are needed. */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Channel } from '../../../src/channels/channel.js';
import { queueChannel } from '../../../src/channels/queue/channel.js';
import { dialQueue, listenQueue, type QueueListener } from '../../../src/channels/queue/dial.js';
import { runs, sized } from '../../helpers/runs.js';
import { hear } from '../contract.js';
import { FakeBus, withoutNumbers } from './fake-bus.js';

const FAST = { heartbeatMs: 100, timeoutMs: 1000, retransmitMs: 20 };
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function connected(
  bus: FakeBus,
  options = {},
  optionsThere = options,
): Promise<[Channel, Channel, QueueListener]> {
  const accepted: Channel[] = [];
  const listener = await listenQueue(bus, 'test.one', (channel) => accepted.push(channel), {
    ...FAST,
    ...optionsThere,
  });
  const here = await dialQueue(bus, 'test.one', { ...FAST, ...options });
  closing.push(() => here.destroy(), ...accepted.map((channel) => () => channel.destroy()));
  while (accepted.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  return [here, accepted[0]!, listener];
}

/** Sends texts in both directions, and the ends. @returns what arrived on each side */
async function exchange(
  bus: FakeBus,
  texts: readonly string[],
  options = {},
  optionsThere = options,
): Promise<(readonly string[])[]> {
  const [here, there] = await connected(bus, options, optionsThere);
  const [mine, theirs] = [hear(here), hear(there)];
  for (const text of texts) {
    here.send(text);
    there.send(text);
  }
  await Promise.all([here.end(), there.end(), mine.ended, theirs.ended]);
  return [mine.texts, theirs.texts];
}

describe('a channel over a bus with faults', () => {
  const faults = fc.record({
    lose: fc.double({ min: 0, max: 0.2, noNaN: true }),
    repeat: fc.double({ min: 0, max: 0.3, noNaN: true }),
    reorder: fc.double({ min: 0, max: 0.3, noNaN: true }),
  });

  test('delivers everything once, in order, whatever the bus does', async () => {
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 400 }), { maxLength: 60 });
    const window = fc.record({
      windowMessages: fc.integer({ min: 1, max: 20 }),
      windowBytes: fc.integer({ min: 1, max: 3000 }),
      timeoutMs: fc.constant(10_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.integer(), faults, texts, window, window, async (seed, given, sent, options, theirs) => {
        const bus = new FakeBus(seed, given, 300);
        expect(await exchange(bus, sent, options, theirs)).toEqual([sent, sent]);
      }),
      runs(20),
    );
  });

  const TEXTS = Array.from({ length: 120 }, (_, number) => `text ${number}`);

  test('has all 120 texts if a tenth of the messages is lost, repeated and reordered', async () => {
    const bus = new FakeBus(7, { lose: 0.1, repeat: 0.1, reorder: 0.1 });
    expect(await exchange(bus, TEXTS)).toEqual([TEXTS, TEXTS]);
    expect(Math.min(bus.counts.lost, bus.counts.repeated, bus.counts.reordered)).toBeGreaterThan(5);
  });

  test('would miss, repeat and reorder texts without numbers', async () => {
    const bus = new FakeBus(7, { lose: 0.1, repeat: 0.1, reorder: 0.1, change: withoutNumbers() });
    const [here, there] = await connected(bus);
    hear(here);
    const theirs = hear(there);
    for (const text of TEXTS) here.send(text);
    await here.end();
    await theirs.ended;
    expect(theirs.texts).not.toEqual(TEXTS);
    expect(new Set(theirs.texts).size).toBeLessThan(theirs.texts.length);
  });

  test('continues after a short interruption, and ends with an error after a long one', async () => {
    const bus = new FakeBus(1);
    const [here, there] = await connected(bus);
    const [mine, theirs] = [hear(here), hear(there)];
    bus.isDown = true;
    here.send('"lost at first"');
    await new Promise((resolve) => setTimeout(resolve, 100));
    bus.isDown = false;
    await theirs.count(1);
    bus.isDown = true;
    here.send('"lost"');
    await Promise.all([mine.ended, theirs.ended]);
    expect([mine.ends[0], theirs.ends[0]]).toMatchObject([{ code: 'closed' }, { code: 'closed' }]);
    expect(theirs.texts).toEqual(['"lost at first"']);
  });

  test('answers the other side with a close after its own close was lost', async () => {
    const bus = new FakeBus(1);
    const [here, there] = await connected(bus);
    const [mine, theirs] = [hear(here), hear(there)];
    bus.isDown = true;
    there.destroy();
    bus.isDown = false;
    await Promise.all([mine.ended, theirs.ended]);
    expect(String(mine.ends[0])).toContain('The other side has closed the connection');
  });

  test('ignores what others publish on its subjects', async () => {
    const bus = new FakeBus(1);
    const subjects = new Set<string>();
    bus.faults = {
      change: (subject, message) => {
        subjects.add(subject);
        return message;
      },
    };
    const [here, there] = await connected(bus);
    const theirs = hear(there);
    const mine = hear(here);
    here.send('"one"');
    there.send('"one"');
    await Promise.all([theirs.count(1), mine.count(1)]);
    const nonsense = [
      '',
      '\n',
      'text',
      'text 5\n',
      'text 0 1 0 1 1\nx',
      'ack 9999 0 1 1\n',
      'text 2 77 0 9 9\n"forged"',
      'open 1 x',
      'ask 1 0 1\n',
    ];
    for (const subject of [...subjects, 'test.one.connect'])
      for (const text of nonsense) bus.publish(subject, new TextEncoder().encode(text));
    for (const subject of subjects) bus.publish(subject, Uint8Array.from([0xff, 0, 0x0a, 0xfe]));
    here.send('"two"');
    await theirs.count(2);
    expect(theirs.texts).toEqual(['"one"', '"two"']);
    expect([mine.ends, theirs.ends, mine.invalid]).toEqual([[], [], []]);
  });

  test('keeps no more than its window for a reader that does not read', async () => {
    const bus = new FakeBus(1, {}, 1024);
    const [here, there] = await connected(bus, { windowMessages: 10, windowBytes: 4096 });
    hear(here);
    const theirs = hear(there);
    there.pause();
    const before = bus.counts.published;
    for (let number = 0; number < 1000; number++) here.send(`"${number}"`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    // Ten texts, and the questions after credits.
    expect(bus.counts.published - before).toBeLessThan(40);
    there.resume();
    await theirs.count(1000);
  });

  test('makes a writer wait for acknowledgements, whatever the other side grants', () => {
    let receive = (_: Uint8Array): void => undefined;
    let texts = 0;
    const channel = queueChannel(
      {
        maxMessageBytes: 1024,
        publish: (message) => {
          if (new TextDecoder().decode(message).startsWith('text')) texts++;
        },
        subscribe: (listener) => {
          receive = listener;
          return () => undefined;
        },
      },
      { windowMessages: 10, windowBytes: 4000 },
    );
    closing.push(channel.destroy);
    const acknowledge = (next: number): void =>
      receive(new TextEncoder().encode(`ack ${next} 0 9999999999999999 9999999999999999\n`));
    acknowledge(1);
    for (let number = 0; number < 12; number++) channel.send('x'.repeat(500));
    expect([texts, channel.backlog()]).toEqual([8, 6000]);
    expect(channel.ready()).toBeInstanceOf(Promise);
    acknowledge(9);
    expect([texts, channel.ready()]).toEqual([12, undefined]);
    for (let number = 0; number < 12; number++) channel.send('');
    expect(texts).toBe(18);
    expect(channel.ready()).toBeInstanceOf(Promise);
  });

  test('is one of thousands on a bus, which leave no subscription', async () => {
    const bus = new FakeBus(1, { lose: 0.01 });
    const count = sized(100, 1000);
    const options = { ...FAST, timeoutMs: 1500 };
    const listener = await listenQueue(
      bus,
      'test.many',
      (channel) =>
        channel.start({
          text: (text) => channel.send(text),
          invalid: () => undefined,
          tooLong: () => undefined,
          ended: () => void channel.end(),
        }),
      options,
    );
    const visit = async (number: number): Promise<readonly string[]> => {
      const channel = await dialQueue(bus, 'test.many', options);
      const heard = hear(channel);
      channel.send(`[${number}]`);
      await heard.count(1);
      await Promise.all([channel.end(), heard.ended]);
      return heard.texts;
    };
    const answers = await Promise.all(Array.from({ length: count }, (_, number) => visit(number)));
    expect(answers).toEqual(Array.from({ length: count }, (_, number) => [`[${number}]`]));
    await listener.close();
    while (bus.subscriptions > 0) await new Promise((resolve) => setTimeout(resolve, 100));
  });

  /** Calls a function with each message that is delivered. */
  const watch = (bus: FakeBus, see: (text: string, message: Uint8Array) => void): void => {
    bus.faults = {
      change: (_, message) => {
        see(new TextDecoder().decode(message), message);
        return message;
      },
    };
  };

  test('is opened by a listener that is free, and is not ended by one that has too many', async () => {
    const bus = new FakeBus(3);
    const requests = new Set<Uint8Array>();
    let refusals = 0;
    watch(bus, (text, message) => {
      if (text.startsWith('open')) requests.add(message);
      if (text.startsWith('busy')) refusals++;
    });
    const echo = (channel: Channel): void => void hear(channel, channel.send);
    const next = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const listen = () => listenQueue(bus, 'test.few', echo, { ...FAST, maxConnections: 1 });
    closing.push(() => bus.close());
    await listen();
    const first = await dialQueue(bus, 'test.few', FAST);
    const second = dialQueue(bus, 'test.few', FAST);
    while (refusals === 0) await next();
    await listen();
    const channels = [first, await second];
    const heard = channels.map((channel) => hear(channel));
    // The queue may repeat a request later, to either listener.
    const before = refusals;
    while (refusals < before + 5) {
      for (const request of requests) bus.publish('test.few.connect', request);
      await next();
    }
    for (const channel of channels) channel.send('"still open"');
    await Promise.all(heard.map((one) => one.count(1)));
    // Those of the two listeners, and two for each connection.
    expect(bus.subscriptions).toBe(6);
  });

  test('is not opened by a listener that was closed after its offer', async () => {
    const bus = new FakeBus(1);
    const accepted: Channel[] = [];
    const listener = await listenQueue(bus, 'test.one', (channel) => accepted.push(channel), FAST);
    let closed: Promise<void> | undefined;
    watch(bus, (text) => {
      if (text.startsWith('offer')) closed ??= listener.close();
    });
    const channel = await dialQueue(bus, 'test.one', FAST);
    closing.push(channel.destroy);
    await closed;
    // That of the client.
    expect(bus.subscriptions).toBe(1);
    const heard = hear(channel);
    await heard.ended;
    expect(heard.ends[0]?.message).toBe('test.one has withdrawn its offer');
    expect(accepted).toEqual([]);
  });

  test('is refused if there are too many, no listener, or an invalid subject', async () => {
    const bus = new FakeBus(1);
    await listenQueue(bus, 'test.few', () => undefined, { ...FAST, maxConnections: 1 });
    closing.push(() => bus.close());
    await dialQueue(bus, 'test.few', FAST);
    await expect(dialQueue(bus, 'test.few', { ...FAST, connectTimeoutMs: 50 })).rejects.toThrow('too many connections');
    await expect(dialQueue(bus, 'test.none', { ...FAST, connectTimeoutMs: 50 })).rejects.toMatchObject({
      code: 'closed',
      message: 'Cannot connect to test.none: no listener answers',
    });
    for (const subject of ['', 'a.>', 'a.*', 'a b', '.a'])
      await expect(dialQueue(bus, subject)).rejects.toThrow(TypeError);
    await expect(listenQueue(bus, 'a', () => undefined, { timeoutMs: 0 })).rejects.toThrow('timeoutMs');
  });
});
