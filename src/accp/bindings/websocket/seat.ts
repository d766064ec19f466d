/** A session on the answering side, with the connection that it has for the time being. */
import type { Codec } from '../../codec/codec.js';
import type { MessageInput } from '../../message/message.js';
import { partsOfSession, type Session } from '../../session/session.js';
import { StoreError } from '../../store/store.js';
import type { Endpoint } from '../endpoint.js';
import { Turns } from '../endpoint-turns.js';
import { Stretch } from '../stretch.js';
import { CLOSE } from './errors.js';
import type { FrameSocket, SocketEnd } from './frame-socket.js';
import { type Heartbeat, type HeartbeatOptions, PING, startHeartbeat } from './heartbeat.js';
import { SendWindow } from './send-window.js';

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
  readonly #window: SendWindow;
  /** What this side says by itself goes out one after the other. */
  readonly #turns = new Turns();
  #socket: FrameSocket | undefined;
  #heartbeat: Heartbeat | undefined;
  #leaveTimer: unknown;
  /** Those who have something to send, and nobody to send it to. */
  #wake: (() => void)[] = [];
  #working = 0;
  readonly #stretch = new Stretch();
  #isPinging = false;

  constructor(endpoint: Endpoint, session: Session, options: SeatOptions) {
    this.#endpoint = endpoint;
    this.#session = session;
    this.#options = options;
    this.#release = endpoint.hold(session);
    this.#window = new SendWindow(partsOfSession(session).outbox.max);
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
    this.#window.restart();
    if (this.#isBusy) socket.pause();
    this.#heartbeat?.stop();
    this.#heartbeat = startHeartbeat(
      this.#options,
      () => {
        void this.#ping();
        return !socket.isStopped;
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
    this.heard(frame);
    void this.#work(this.#endpoint.receive(frame, this.#session, this.#leaving.signal));
  }

  /** A frame has come, whether it is worked on now or later. */
  heard(frame: string): void {
    this.#heartbeat?.alive();
    this.#window.arrived(frame);
  }

  /** Nothing is read for now, so that nobody can wait for a `pong`. */
  stopped(): void {
    this.#window.release();
  }

  /**
   * @returns whether it was sent
   * @throws AccpError for a message that cannot be said
   * @throws StoreError when the session's store fails
   */
  async say(message: MessageInput | string): Promise<boolean> {
    const turn = this.#turns.take();
    const end = typeof turn === 'function' ? turn : await turn;
    try {
      // Nothing is numbered as long as there is nobody to send it to.
      if (!(await this.#ready())) return false;
      // What cannot be said is the caller's business, and takes no number.
      const refused: unknown[] = [];
      await this.#say((codec) => {
        try {
          return codec.encode(message, this.#session).frames;
        } catch (thrown) {
          refused.push(thrown);
          if (thrown instanceof StoreError) throw thrown;
          return [];
        }
      });
      if (refused.length > 0) throw refused[0];
      return true;
    } finally {
      end();
    }
  }

  /** One at a time: where the other side takes nothing, more of them would only pile up. */
  async #ping(): Promise<void> {
    if (this.#isPinging) return;
    this.#isPinging = true;
    await this.#say((codec) => codec.encode(PING, this.#session).frames);
    this.#isPinging = false;
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

  close(): void {
    this.#socket?.close(CLOSE.goingAway, 'the server ends');
    this.#leave();
  }

  #leave(): void {
    if (this.#leaving.signal.aborted) return;
    clearTimeout(this.#leaveTimer as never);
    this.#heartbeat?.stop();
    this.#leaving.abort(new Error('the other side has gone'));
    this.#window.release();
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
    this.#working++;
    if (this.#isBusy) this.#socket?.pause();
    try {
      for await (const frame of frames) {
        if (!(await this.#ready())) return isThere;
        this.#socket?.send(frame);
        this.#window.sent(frame);
        // Not waited for: its turn comes after that of this one.
        if (this.#window.takeDue()) void this.#ping();
        isThere ||= like?.test(frame) === true;
        await this.#stretch.next();
      }
    } catch (thrown) {
      this.#broken(thrown);
    } finally {
      const wasBusy = this.#isBusy;
      this.#working--;
      if (wasBusy && !this.#isBusy) this.#socket?.resume();
    }
    return isThere;
  }

  get #isBusy(): boolean {
    return this.#working >= this.#options.maxConcurrent;
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
        const ready = (this.#socket.isStopped ? undefined : this.#window.ready()) ?? this.#socket.ready();
        if (ready === undefined) return true;
        await ready;
      }
    }
  }
}
