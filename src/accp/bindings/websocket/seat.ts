/** A session on the answering side, with the connection that it has for the time being. */
import type { Codec } from '../../codec/codec.js';
import type { MessageInput } from '../../message/message.js';
import type { Session } from '../../session/session.js';
import { StoreError } from '../../store/store.js';
import type { Endpoint } from '../endpoint.js';
import { CLOSE } from './errors.js';
import type { FrameSocket, SocketEnd } from './frame-socket.js';
import { type Heartbeat, type HeartbeatOptions, PING, startHeartbeat } from './heartbeat.js';

export interface SeatOptions extends HeartbeatOptions {
  readonly resumeTime: number;
  readonly maxConcurrent: number;
  readonly failed: (error: Error) => void;
  /** Nobody is expected back. */
  readonly left: () => void;
}

/** What the frame with which everything begins looks like. */
const REGISTRY = />sync:registry[{[]/;

export class Seat {
  readonly #endpoint: Endpoint;
  readonly #session: Session;
  readonly #options: SeatOptions;
  readonly #release: () => void;
  readonly #leaving = new AbortController();
  #socket: FrameSocket | undefined;
  #heartbeat: Heartbeat | undefined;
  #leaveTimer: unknown;
  /** Those who have something to send, and nobody to send it to. */
  #wake: (() => void)[] = [];
  #working = 0;
  #closed: Promise<void> = Promise.resolve();

  constructor(endpoint: Endpoint, session: Session, options: SeatOptions) {
    this.#endpoint = endpoint;
    this.#session = session;
    this.#options = options;
    this.#release = endpoint.hold(session);
  }

  get sid(): string {
    return this.#session.id;
  }

  get isConnected(): boolean {
    return this.#socket !== undefined;
  }

  /** Goes on over this socket, on which `first` has come. */
  connect(socket: FrameSocket, first: string): void {
    this.#socket?.close(CLOSE.replaced, 'the session goes on over another connection');
    clearTimeout(this.#leaveTimer as never);
    this.#socket = socket;
    this.#heartbeat?.stop();
    this.#heartbeat = startHeartbeat(
      this.#options,
      () => {
        void this.say(PING);
        return !socket.isPaused;
      },
      () => socket.terminate(CLOSE.goingAway, 'the other side does not answer'),
    );
    void this.#greet(socket, first);
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** Answers the first frame by a registry: the codec does so by itself only where it has not done so before. */
  async #greet(socket: FrameSocket, first: string): Promise<void> {
    const isSaid = await this.#work(this.#endpoint.receive(first, this.#session, this.#leaving.signal), REGISTRY);
    // To whoever has come back it says how far this side has got: what was lost on the way is missed now, and sent again.
    if (!isSaid && this.#socket === socket) await this.#say((codec) => codec.announce(this.#session).frames);
  }

  take(frame: string): void {
    this.#heartbeat?.alive();
    void this.#work(this.#endpoint.receive(frame, this.#session, this.#leaving.signal));
  }

  /** @returns whether it was sent */
  async say(message: MessageInput | string): Promise<boolean> {
    // Nothing is numbered as long as there is nobody to send it to.
    if (!(await this.#ready())) return false;
    await this.#say((codec) => codec.encode(message, this.#session).frames);
    return true;
  }

  disconnected(socket: FrameSocket, { code }: SocketEnd): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    this.#heartbeat?.stop();
    if (code === CLOSE.normal) this.#leave();
    else {
      const timer: unknown = setTimeout(() => this.#leave(), this.#options.resumeTime * 1000);
      (timer as { readonly unref?: () => void }).unref?.();
      this.#leaveTimer = timer;
    }
  }

  async close(): Promise<void> {
    this.#socket?.close(CLOSE.goingAway, 'the server ends');
    this.#leave();
    await this.#closed;
  }

  #leave(): void {
    if (this.#leaving.signal.aborted) return;
    clearTimeout(this.#leaveTimer as never);
    this.#heartbeat?.stop();
    this.#leaving.abort(new Error('the other side has gone'));
    for (const wake of this.#wake.splice(0)) wake();
    this.#release();
    this.#options.left();
  }

  async #say(make: (codec: Codec) => readonly string[]): Promise<void> {
    await this.#work(this.#endpoint.say(make, this.#session));
  }

  /**
   * Sends frames as they come; where they go nowhere, they are not asked for.
   *
   * @returns whether one of them looked like that
   */
  async #work(frames: AsyncIterable<string>, like?: RegExp): Promise<boolean> {
    let isThere = false;
    if (++this.#working >= this.#options.maxConcurrent) this.#socket?.pause();
    try {
      for await (const frame of frames) {
        if (!(await this.#ready())) return isThere;
        this.#socket?.send(frame);
        isThere ||= like?.test(frame) === true;
      }
    } catch (thrown) {
      this.#broken(thrown);
    } finally {
      if (--this.#working === this.#options.maxConcurrent - 1) this.#socket?.resume();
    }
    return isThere;
  }

  /** The session has ended with its store; whoever comes back finds one that goes on from what was stored. */
  #broken(thrown: unknown): void {
    this.#options.failed(thrown instanceof Error ? thrown : new Error(String(thrown)));
    if (!(thrown instanceof StoreError)) return;
    this.#socket?.close(CLOSE.failed, 'the session has failed');
    this.#leave();
  }

  /** @returns whether there is somebody, or soon: `false` when nobody is expected back */
  async #ready(): Promise<boolean> {
    for (;;) {
      if (this.#leaving.signal.aborted) return false;
      if (this.#socket === undefined) await new Promise<void>((resolve) => this.#wake.push(resolve));
      else {
        const ready = this.#socket.ready();
        if (ready === undefined) return true;
        await ready;
      }
    }
  }
}
