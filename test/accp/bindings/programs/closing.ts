/** Closes the WebSockets of a platform: of a browser, or of Node. */
import { createConnection, webSocketChannel } from '../../../../src/acp/portable.js';
import { closeWebSocket, type WebSocketLike } from '../../../../src/channels/websocket.js';

const CODES: readonly (number | undefined)[] = [undefined, 1000, 1001, 1003, 1007, 1008, 1009, 1011, 3000, 4001, 4999];
const REASONS = [
  '',
  'short',
  'x'.repeat(123),
  'x'.repeat(124),
  'é'.repeat(62),
  `${'x'.repeat(122)}\u{1f600}`,
  '\ud800'.repeat(50),
];

/** The pairs of a code and a reason that are passed to `closeWebSocket`. */
export const CLOSES = CODES.flatMap((code) => REASONS.map((reason) => ({ code, reason })));

/** Closes one socket per pair, and creates one channel that a message over its limit ends. @returns the error of the call on that channel */
export async function closeAll(connect: (path: string) => WebSocketLike): Promise<string> {
  const opened = async (path: string): Promise<WebSocketLike> => {
    const socket = connect(path);
    await new Promise<void>((resolve) => socket.addEventListener('open', () => resolve()));
    return socket;
  };
  for (const [index, { code, reason }] of CLOSES.entries()) closeWebSocket(await opened(`/${index}`), code, reason);
  const connection = createConnection(webSocketChannel(connect('/long'), { maxLength: 1000 }));
  const failure = await connection.request('report').catch(({ code }: { code: string }) => code);
  const fault = await connection.closed;
  return `${failure}, ${fault?.code}`;
}
