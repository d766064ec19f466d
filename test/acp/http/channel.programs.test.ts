/** The channel of ACP over HTTP/1.1 fulfils the contract of all channels, and agents that do not read learn of the end. */
import { expect, test } from 'vitest';
import { connectAcp, listenAcp } from '../../../src/acp/http/index.js';
import type { Channel } from '../../../src/acp/index.js';
import { channelContract } from '../../channels/contract.js';
import { open } from './ends.js';

channelContract('ACP over HTTP/1.1', () => open('http', {}, true), { isLimited: false });

test.concurrent.each(['http', 'ws'] as const)(
  'an agent that reads nothing more learns that its client has left, over %s',
  async (scheme) => {
    let ended!: (error: Error | undefined) => void;
    const over = new Promise<Error | undefined>((resolve) => {
      ended = resolve;
    });
    const texts: string[] = [];
    const server = await listenAcp((channel: Channel) => {
      const text = (one: string): void => {
        texts.push(one);
        channel.pause();
        channel.send('{"jsonrpc":"2.0","id":1,"result":{}}');
      };
      channel.start({ text, invalid: () => {}, tooLong: () => {}, ended });
    });
    const client = connectAcp(server[scheme]);
    const answered = new Promise<string>((resolve) => {
      client.start({ text: resolve, invalid: () => {}, tooLong: () => {}, ended: () => {} });
    });
    client.send('{"jsonrpc":"2.0","id":1,"method":"initialize"}');
    await answered;
    for (let n = 0; n < 3; n++) client.send('{"jsonrpc":"2.0","method":"unread"}');
    client.destroy();
    await over;
    expect(texts.length).toBe(1);
    await server.close();
  },
);
