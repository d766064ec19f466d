/** The contract of channels, over a stream of QUIC. */
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { byteChannel } from '../../src/channels/node/byte-channel.js';
import { describeQuic, quicDriver, quicHint, tls } from '../helpers/quic.js';
import { udpRelay } from '../helpers/udp-relay.js';
import { channelContract, hear, type Open } from './contract.js';

const overQuic: Open = async ({ maxTextBytes: maxLineBytes } = {}) => {
  const options = { protocol: 'test', idleTimeoutMs: 1500, onError: () => {} };
  let accept!: (stream: Duplex) => void;
  const accepted = new Promise<Duplex>((resolve) => {
    accept = resolve;
  });
  const limits = { maxConnections: 10, maxStreams: 10 };
  const listening = { ...options, ...tls, ...limits, address: '127.0.0.1', port: 0, onStream: accept };
  const server = await quicDriver().listen(listening);
  const relay = await udpRelay(server.port);
  const trust = { serverName: 'localhost', ca: tls.cert, keepAliveMs: 300, timeoutMs: 5000 };
  const client = await quicDriver().connect({ ...options, ...trust, address: '127.0.0.1', port: relay.port });
  const stream = client.openStream();
  stream.write('\n');
  const other = await accepted;
  return {
    here: byteChannel(stream, stream, { maxLineBytes }),
    there: byteChannel(other, other, { maxLineBytes }),
    cut: relay.cut,
    close: async () => {
      await Promise.all([client.close(), server.close()]);
      relay.close();
    },
  };
};

channelContract('QUIC', overQuic, { hint: quicHint });

describeQuic('a stream whose sides have both ended', () => {
  test.each([3, 40])('delivers all of %i texts to a side that reads later', async (count) => {
    const { here, there, close } = await overQuic();
    const mine = hear(here);
    const theirs = hear(there);
    here.pause();
    const numbers = Array.from({ length: count }, (_, number) => JSON.stringify([number, 'x'.repeat(1000)]));
    for (const text of numbers) there.send(text);
    await Promise.all([here.end(), there.end()]);
    await theirs.ended;
    await sleep(200);
    expect(mine.texts).toEqual([]);
    here.resume();
    await mine.ended;
    expect(mine.texts).toEqual(numbers);
    expect(mine.ends).toEqual([undefined]);
    await close();
  });
});
