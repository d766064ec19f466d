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
    setTimeout(look, LOOK);
  });
}
