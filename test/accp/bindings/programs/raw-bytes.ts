/** Sends bytes over TCP that a client would not send. */
import { connect, type Socket } from 'node:net';
import { FRAMES_PATH } from '../../../../src/accp/bindings/http/index.js';

/**
 * Sends bytes unchanged.
 *
 * @param isEnough tests whether the received bytes are complete; without it, the server must close the connection
 */
export async function exchangeBytes(
  port: number,
  pieces: readonly (string | Uint8Array)[],
  isEnough = (_: Buffer): boolean => false,
): Promise<Buffer> {
  const socket: Socket = connect(port, '127.0.0.1');
  const received: Buffer[] = [];
  const over = new Promise<void>((resolve) => {
    socket.on('data', (part: Buffer) => {
      received.push(part);
      if (isEnough(Buffer.concat(received))) resolve();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve());
  });
  for (const piece of pieces)
    await new Promise<void>((resolve) => {
      if (socket.writable) socket.write(piece, () => resolve());
      else resolve();
    });
  await over;
  socket.destroy();
  return Buffer.concat(received);
}

/** Sends bytes and ends the connection. Resolves when the server has closed it, too. */
export async function endWith(port: number, ...pieces: readonly (string | Uint8Array)[]): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  for (const piece of pieces) socket.write(piece);
  socket.resume().end();
  await closed;
}

/** The request that opens a WebSocket. */
export function handshake(path: string = FRAMES_PATH): string {
  return [
    `GET ${path} HTTP/1.1`,
    ...['Host: a', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
    ...['Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', 'Sec-WebSocket-Protocol: accp', '', ''],
  ].join('\r\n');
}

export interface WebSocketFrame {
  readonly opcode?: number;
  readonly bits?: number;
  readonly isMasked?: boolean;
  /** The declared length; by default the actual one. */
  readonly length?: number;
}

/** A WebSocket frame with a mask of zeros, valid or not (RFC 6455, section 5.2). */
export function webSocketFrame(
  payload: string | Uint8Array,
  { opcode = 1, bits = 0x80, isMasked = true, length }: WebSocketFrame = {},
): Buffer {
  const body = Buffer.from(payload);
  const declared = length ?? body.length;
  const mask = isMasked ? 0x80 : 0;
  const head = Buffer.alloc(declared < 126 ? 2 : declared < 65_536 ? 4 : 10);
  head[0] = bits | opcode;
  if (declared < 126) head[1] = mask | declared;
  else if (declared < 65_536) {
    head[1] = mask | 126;
    head.writeUInt16BE(declared, 2);
  } else {
    head[1] = mask | 127;
    head.writeBigUInt64BE(BigInt(declared), 2);
  }
  return Buffer.concat([head, Buffer.alloc(isMasked ? 4 : 0), body]);
}

/** Returns the code of a server's close frame, 0 for one without a code; `null` if there is none in its bytes. */
export function closeCode(bytes: Buffer): number | null {
  const begin = bytes.indexOf('\r\n\r\n');
  if (begin === -1) return null;
  const frames = bytes.subarray(begin + 4);
  for (let at = 0; at + 2 <= frames.length; ) {
    const [first = 0, second = 0] = frames.subarray(at);
    const head = second === 126 ? 4 : second === 127 ? 10 : 2;
    if (at + head > frames.length) return null;
    const length =
      head === 2 ? second : head === 4 ? frames.readUInt16BE(at + 2) : Number(frames.readBigUInt64BE(at + 2));
    if (at + head + length > frames.length) return null;
    if ((first & 0x0f) === 8) return length < 2 ? 0 : frames.readUInt16BE(at + head);
    at += head + length;
  }
  return null;
}
