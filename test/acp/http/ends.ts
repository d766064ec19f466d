/** Both ends of a connection over the transports of ACP, which can be cut. */
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { connectAcp, type ListenAcpOptions, listenAcp } from '../../../src/acp/http/index.js';
import type { Channel, Receiver } from '../../../src/acp/index.js';
import type { Ends } from '../../channels/contract.js';

/** Starts a proxy that passes back-pressure on, unlike that of the helpers, which counts bytes. */
async function cuttingProxy(target: number): Promise<{ port: number; cut: () => void; close: () => void }> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect({ port: target, host: '127.0.0.1' });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, cut, close: () => void server.close(cut) };
}

/** Connects both ends through a proxy that can cut the connection. */
export async function open(scheme: 'http' | 'ws', options: ListenAcpOptions, isHttp1 = false): Promise<Ends> {
  let connected!: (channel: Channel) => void;
  const accepted = new Promise<Channel>((resolve) => {
    connected = resolve;
  });
  const server = await listenAcp((channel) => connected(channel), { idleTimeoutMs: 1000, ...options });
  const proxy = await cuttingProxy(server.port);
  const { maxMessageBytes } = options;
  const client = connectAcp(`${scheme}://127.0.0.1:${proxy.port}/acp`, {
    ...{ maxMessageBytes, resumable: false },
    ...(isHttp1 ? { fetch } : {}),
  });
  const [here, there] = await initialized(client, accepted, scheme === 'http');
  return {
    ...{ here, there },
    cut: proxy.cut,
    close: async () => {
      proxy.close();
      server.terminate();
    },
  };
}

/** Exchanges `initialize`, as the transport requires. Then any text can be sent: over HTTP as a notification. */
async function initialized(client: Channel, accepted: Promise<Channel>, isHttp: boolean): Promise<[Channel, Channel]> {
  client.send('{"jsonrpc":"2.0","id":0,"method":"initialize"}');
  const server = await accepted;
  const there = await afterFirst(server, isHttp, () => server.send('{"jsonrpc":"2.0","id":0,"result":null}'));
  return [await afterFirst(client, isHttp, () => undefined), there];
}

/** Resolves with the rest of a channel after its first text. @param isWrapped `true` if texts are sent in notifications */
function afterFirst(channel: Channel, isWrapped: boolean, onFirst: () => void): Promise<Channel> {
  let receiver: Receiver | undefined;
  const rest: Channel = {
    ...channel,
    start: (given) => {
      receiver = given;
      channel.resume();
    },
    send: (text) => channel.send(isWrapped ? JSON.stringify({ jsonrpc: '2.0', method: 'text', params: [text] }) : text),
  };
  return new Promise((resolve) => {
    channel.start({
      text: (text) => {
        if (receiver !== undefined) {
          receiver.text(isWrapped ? (JSON.parse(text) as { params: [string] }).params[0] : text);
          return;
        }
        channel.pause();
        onFirst();
        resolve(rest);
      },
      invalid: (reason) => receiver?.invalid(reason),
      tooLong: (limit) => receiver?.tooLong(limit),
      ended: (error) => receiver?.ended(error),
    });
  });
}
