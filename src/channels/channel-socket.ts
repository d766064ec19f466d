import type { Channel } from './channel.js';
import { CONNECTING, OPEN, type WebSocketLike } from './websocket.js';

const CLOSING = 2;
const CLOSED = 3;
/** Close codes: none was received, the connection was lost, binary data, a text that is too long (RFC 6455, section 7.4.1). */
const NO_CODE = 1005;
const ABNORMAL = 1006;
const BINARY = 1003;
const TOO_BIG = 1009;

type Listener = (event: never) => void;

/**
 * Gives a channel the interface of a WebSocket, so that protocols that are defined over WebSockets work over any channel. Both sides must do
 * this. A message is sent as one text. The code and reason of a close are sent as the last text, `{"close":[CODE,REASON]}`; a message that
 * begins with `{` or `"`, or contains a line end, is sent as a JSON string, so that it is neither mistaken for a close nor split.
 *
 * @param channel the channel, or a promise of one that is being connected
 */
export function channelSocket(channel: Channel | Promise<Channel>): WebSocketLike {
  return new ChannelSocket(channel);
}

class ChannelSocket implements WebSocketLike {
  #channel: Channel | undefined;
  #state = CONNECTING;
  #hasTerminated = false;
  readonly #listeners = new Map<string, Set<Listener>>();
  /** The code and reason that the other side sent. */
  #received: readonly [code: number, reason: string] | undefined;
  /** The code and reason that this side sent. */
  #sent: readonly [code: number, reason: string] | undefined;

  constructor(channel: Channel | Promise<Channel>) {
    // Later, so that listeners can be added first.
    void Promise.resolve(channel).then(
      (connected) => this.#open(connected),
      (error: unknown) => this.#end(error instanceof Error ? error : new Error(String(error))),
    );
  }

  get readyState(): number {
    return this.#state;
  }

  get bufferedAmount(): number {
    return this.#channel?.backlog() ?? 0;
  }

  addEventListener(type: string, listener: Listener): void {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners.add(listener));
  }

  readonly send = (data: string): void => {
    if (this.#state === CONNECTING) throw new Error('The connection is not open yet');
    if (this.#state === OPEN) this.#channel?.send(/^["{]|[\r\n]/.test(data) ? JSON.stringify(data) : data);
  };

  readonly close = (code = 1000, reason = ''): void => {
    if (this.#state >= CLOSING) return;
    if (this.#state === CONNECTING) {
      this.terminate();
      return;
    }
    this.#state = CLOSING;
    this.#sent = [code, reason];
    this.#channel!.send(JSON.stringify({ close: this.#sent }));
    void this.#channel!.end();
  };

  readonly terminate = (): void => {
    this.#hasTerminated = true;
    this.#channel?.destroy();
    this.#end();
  };

  readonly pause = (): void => this.#channel?.pause();

  readonly resume = (): void => this.#channel?.resume();

  #open(channel: Channel): void {
    if (this.#hasTerminated) {
      channel.destroy();
      return;
    }
    this.#channel = channel;
    this.#state = OPEN;
    channel.start({
      text: this.#receive,
      invalid: () => this.#refuse(BINARY, 'the message is not text'),
      tooLong: () => this.#refuse(TOO_BIG, 'the message is too long'),
      ended: (error) => this.#end(error),
    });
    this.#emit('open', {});
  }

  readonly #receive = (text: string, isUnterminated = false): void => {
    // The beginning of a text, before the connection was lost.
    if (isUnterminated || this.#state >= CLOSED || this.#received !== undefined) return;
    if (!text.startsWith('{') && !text.startsWith('"')) {
      this.#emit('message', { data: text });
      return;
    }
    const value = jsonOf(text);
    const close = (value as { readonly close?: unknown } | null | undefined)?.close;
    if (typeof value === 'string') this.#emit('message', { data: value });
    else if (Array.isArray(close) && Number.isInteger(close[0])) {
      this.#received = [close[0] as number, String(close[1] ?? '')];
      // The answer of a closing handshake.
      this.close(...this.#received);
    } else this.#refuse(BINARY, 'the text is neither a message nor a close');
  };

  #refuse(code: number, reason: string): void {
    this.#emit('error', { message: reason });
    this.close(code, reason);
  }

  #end(error?: Error): void {
    if (this.#state === CLOSED) return;
    // The other side may have ended only its output.
    if (this.#state !== CLOSING) this.#channel?.destroy();
    this.#state = CLOSED;
    if (error !== undefined) this.#emit('error', { error, message: error.message });
    const lost = error === undefined && !this.#hasTerminated ? NO_CODE : ABNORMAL;
    const [code, reason] = this.#received ?? (error === undefined ? this.#sent : undefined) ?? [lost, ''];
    this.#emit('close', { code, reason });
  }

  #emit(type: string, event: unknown): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(event as never);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
