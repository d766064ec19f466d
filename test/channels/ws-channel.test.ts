/** The WebSockets of `ws`, whose messages of one turn are written together. */
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { wsChannel } from '../../src/channels/node/ws-channel.js';

/** The stream below a WebSocket, which records what is written to it at a time. */
class RecordingStream extends Duplex {
  readonly writes: string[] = [];

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.writes.push(chunk.toString('latin1'));
    done();
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.writes.push(chunks.map(({ chunk }) => chunk.toString('latin1')).join(''));
    done();
  }
}

async function open() {
  const stream = new RecordingStream();
  const headers = {
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  };
  const request = Object.assign(new EventEmitter(), { method: 'GET', headers }) as unknown as IncomingMessage;
  const socket = await new Promise<WebSocket>((resolve) => {
    new WebSocketServer({ noServer: true }).handleUpgrade(request, stream, Buffer.alloc(0), resolve);
  });
  stream.writes.length = 0;
  return { channel: wsChannel(socket, {}, stream), stream };
}

/** The frame of a short text from a server (RFC 6455, section 5.2). */
const frame = (text: string): string => `\x81${String.fromCharCode(text.length)}${text}`;

test('all messages of one turn are written together, and those of the next after them', async () => {
  const { channel, stream } = await open();
  for (const text of ['1', '2', '3']) channel.send(text);
  void Promise.resolve().then(() => channel.send('of a promise'));
  expect(stream.writes).toEqual([]);
  expect(await channel.flushed!()).toBe(true);
  channel.send('next');
  await new Promise((resolve) => setImmediate(resolve));
  expect(stream.writes).toEqual([['1', '2', '3', 'of a promise'].map(frame).join(''), frame('next')]);
});

test('the end waits for the messages of its turn', async () => {
  const { channel, stream } = await open();
  channel.send('last');
  void channel.end();
  await expect.poll(() => stream.writes.join('')).toBe(`${frame('last')}\x88\x02\x03\xe8`);
  channel.destroy();
});
