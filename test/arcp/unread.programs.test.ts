/** Sides that do not read, which must not hold up the end of the other side, or take its memory. */
import { expect, test } from 'vitest';
import { openClient } from '../../src/arcp/client/index.js';
import { createRuntime } from '../../src/arcp/runtime/index.js';
import type { Channel } from '../../src/channels/channel.js';
import { memoryChannels } from '../../src/channels/memory.js';
import { Wire } from './runtime/wire.js';

/** A channel whose other side has received `backlog` characters less than were sent, and receives no more. */
function unread(channel: Channel, backlog: () => number): Channel {
  return { ...channel, backlog, ready: () => new Promise(() => {}), end: () => new Promise(() => {}) };
}

test('a runtime closes although a client does not read', async () => {
  const runtime = createRuntime();
  const [here, there] = memoryChannels();
  void runtime.accept(unread(there, () => 2 ** 21));
  await new Wire(here).open();
  await runtime.close();
  await expect.poll(() => runtime.counts().connections).toBe(0);
});

test('a client disconnects although its runtime does not read', async () => {
  const runtime = createRuntime();
  const client = await openClient(() => {
    const [here, there] = memoryChannels();
    void runtime.accept(there);
    return unread(here, () => 2 ** 21);
  });
  await client.disconnect();
  await runtime.close();
});

test('a client that sends and does not read is cut off', async () => {
  const runtime = createRuntime();
  const [here, there] = memoryChannels();
  let backlog = 0;
  void runtime.accept(unread(there, () => backlog));
  const wire = new Wire(here);
  await wire.open();
  backlog = 2 ** 27;
  wire.send('ping', {});
  await wire.ended();
  await runtime.close();
});
