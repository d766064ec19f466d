/** WebSockets as bindings use them, wherever they come from. */

/** As much of a WebSocket as is used: browsers', Node's own from version 22 on, and those of `ws`. */
export interface WebSocketLike {
  readonly readyState: number;
  /** Bytes that were sent and are not on their way yet. */
  readonly bufferedAmount: number;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'error', listener: (event: unknown) => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: { readonly code: number; readonly reason: string }) => void): void;
  /** Those of `ws` have these. */
  pause?(): void;
  resume?(): void;
  terminate?(): void;
}

export const CONNECTING = 0;
export const OPEN = 1;

/** Most bytes of the reason of a close, in UTF-8 (RFC 6455, section 5.5: a control frame has at most 125, the code takes two). */
const MAX_REASON_BYTES = 123;
/** A code below 3000 other than 1000 is sent as this much more where programs may not send it: 1009 as 4109. */
const PRIVATE_OFFSET = 3100;

/**
 * Closes a WebSocket, wherever it comes from. Standard ones, of browsers and of Node from version 22 on, let programs send 1000 and the codes from
 * 3000 to 4999 alone: there, another code is sent as a private one, which {@link publicCode} reads. A reason is cut to the 123 bytes that
 * fit, at the border of a character.
 *
 * Source: RFC 6455, sections 5.5 and 7.4; WHATWG WebSockets, `close()`.
 *
 * @param code one of RFC 6455, section 7.4.1, that a program may send, or of 3000 to 4999
 */
export function closeWebSocket(socket: Pick<WebSocketLike, 'close'>, code = 1000, reason = ''): void {
  const text = firstBytes(reason, MAX_REASON_BYTES);
  try {
    socket.close(code, text);
  } catch (error) {
    if (code === 1000 || code >= 3000) throw error;
    socket.close(code + PRIVATE_OFFSET, text);
  }
}

/** Returns the code of RFC 6455 that a received one stands for: 1009 for 4109. */
export function publicCode(code: number): number {
  return code > 1000 + PRIVATE_OFFSET && code < 1016 + PRIVATE_OFFSET ? code - PRIVATE_OFFSET : code;
}

function firstBytes(text: string, bytes: number): string {
  const encoded = new Uint8Array(bytes);
  return text.slice(0, new TextEncoder().encodeInto(text, encoded).read);
}

/** Milliseconds between two looks: a WebSocket does not say when less is buffered. */
const LOOK = 5;

/** Resolves when no more than so many bytes are buffered, or the socket is closed; `undefined` when that is so now. */
export function drained(socket: WebSocketLike, bytes: number): Promise<void> | undefined {
  const isDone = (): boolean => socket.readyState > OPEN || socket.bufferedAmount <= bytes;
  if (isDone()) return undefined;
  return new Promise((resolve) => {
    const look = (): void => {
      if (isDone()) resolve();
      else setTimeout(look, LOOK);
    };
    // The platform says what it has sent at once behind the turn in which it did.
    setTimeout(look);
  });
}
