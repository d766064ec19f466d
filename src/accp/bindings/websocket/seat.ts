/** A session on the answering side, with the connection that it has for the time being. */

import { Queue } from '../../../async/queue.js';
import { Semaphore } from '../../../async/semaphore.js';
import { afterUnref } from '../../../async/timers.js';
import type { Codec } from '../../codec/codec.js';
import type { MessageInput } from '../../message/message.js';
import { partsOfSession, type Session } from '../../session/session.js';
import { StoreError } from '../../store/store.js';
import { isStale } from '../arrivals.js';
import type { Endpoint } from '../endpoint.js';
import { type FrameHead, Stretch } from '../frames.js';
import { CLOSE } from '../link/contract.js';
import { type Heartbeat, type HeartbeatOptions, PING, startHeartbeat } from '../link/heartbeat.js';
import { SendWindow } from '../link/send-window.js';
import type { FrameSocket, SocketEnd } from './frame-socket.js';

interface SeatOptions extends HeartbeatOptions {
  readonly resumeTime: number;
  readonly maxConcurrent: number;
  readonly failed: (error: Error) => void;
  /** The connection was lost; the other side may come back. */
  readonly away: () => void;
  /** Nobody is expected back. */
  readonly left: () => void;
}

/** What the frame with which everything begins looks like. */
const REGISTRY = />sync:registry[{[]/;
const CANCEL = /^@[^>]*>cancel:/;

/** Messages that wait to be worked on before nothing more is read, and how long they may be in all. */
const MAX_WAITING = 1024;
const MAX_WAITING_LENGTH = 4_194_304;

export class Seat {
  readonly #endpoint: Endpoint;
  readonly #session: Session;
  readonly #options: SeatOptions;
  readonly #release: () => void;
  /** What is under way, each to be ended by a controller of its own: one for all would have too many listeners. */
  readonly #under = new Set<AbortController>();
  readonly #places: Places;
  readonly #window: SendWindow;
  /** What this side says by itself goes out one after the other. */
  readonly #turns = new Semaphore(1);
  #socket: FrameSocket | undefined;
  #heartbeat: Heartbeat | undefined;
  #stopLeaving = (): void => undefined;
  /** Those who have something to send, and nobody to send it to. */
  #wake: (() => void)[] = [];
  /** Frames that are decoded, or wait to be sent; those that a handler is told of, or that wait for one, among them. */
  #working = 0;
  #hasLeft = false;
  readonly #stretch = new Stretch();
  #isPinging = false;
  #wasBusy = false;

  constructor(endpoint: Endpoint, session: Session, options: SeatOptions) {
    this.#endpoint = endpoint;
    this.#session = session;
    this.#options = options;
    this.#release = endpoint.hold(session);
    this.#window = new SendWindow(partsOfSession(session).outbox.max);
    this.#places = new Places(options.maxConcurrent);
  }

  get sid(): string {
    return this.#session.id;
  }

  get isConnected(): boolean {
    return this.#socket !== undefined;
  }

  /** Whether a registry is older than what has come. */
  isStale(head: FrameHead): boolean {
    return isStale(head, this.#session);
  }

  /** Goes on over this socket, on which `first` has come. */
  connect(socket: FrameSocket, first: string): void {
    this.#socket?.close(CLOSE.replaced, 'the session goes on over another connection');
    this.#stopLeaving();
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
    const isSaid = await this.#received(first, REGISTRY);
    // To whoever has come back it says how far this side has got: what was lost on the way is missed now, and sent again.
    if (!isSaid && this.#socket === socket) await this.#say((codec) => codec.announce(this.#session).frames);
  }

  take(frame: string): void {
    this.heard(frame);
    void this.#received(frame);
  }

  /** Answers a frame. Of many messages, so many at a time are told to the handler; what ends others of them is, at once. */
  async #received(frame: string, like?: RegExp): Promise<boolean> {
    const controller = new AbortController();
    this.#under.add(controller);
    let isAdmitted = false;
    const isUrgent = CANCEL.test(frame);
    const admit = (): Promise<void> | undefined => {
      if (isUrgent) return undefined;
      isAdmitted = true;
      const admitted = this.#places.enter(frame.length);
      this.#balance();
      return admitted;
    };
    try {
      return await this.#work(this.#endpoint.receive(frame, this.#session, controller.signal, admit), like);
    } finally {
      this.#under.delete(controller);
      if (isAdmitted) this.#places.leave();
      this.#balance();
    }
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
    const turn = this.#turns.acquire();
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
    if (code === CLOSE.normal) this.leave();
    else {
      this.#stopLeaving = afterUnref(this.#options.resumeTime * 1000, () => this.leave());
      this.#options.away();
    }
  }

  close(code: number, reason: string): void {
    this.#socket?.close(code, reason);
    this.leave();
  }

  /** What is under way ends: nobody is expected back. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#stopLeaving();
    this.#heartbeat?.stop();
    const reason = new Error('the other side has gone');
    for (const controller of this.#under) controller.abort(reason);
    partsOfSession(this.#session).streams.cut();
    this.#places.open();
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
    this.#balance();
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
      this.#working--;
      this.#balance();
    }
    return isThere;
  }

  /** Nothing more is read when too much waits to be sent, or to be worked on. */
  get #isBusy(): boolean {
    const { size, waiting, waitingSize } = this.#places;
    return (
      this.#working - size >= this.#options.maxConcurrent || waiting >= MAX_WAITING || waitingSize >= MAX_WAITING_LENGTH
    );
  }

  #balance(): void {
    const isBusy = this.#isBusy;
    if (isBusy === this.#wasBusy) return;
    this.#wasBusy = isBusy;
    if (isBusy) this.#socket?.pause();
    else this.#socket?.resume();
  }

  /** The session has ended with its store; whoever comes back finds one that goes on from what was stored. */
  #broken(thrown: unknown): void {
    this.#options.failed(thrown instanceof Error ? thrown : new Error(String(thrown)));
    if (!(thrown instanceof StoreError)) return;
    this.#socket?.close(CLOSE.failed, 'the session has failed');
    this.leave();
  }

  /** @returns whether there is somebody, or soon: `false` when nobody is expected back */
  async #ready(): Promise<boolean> {
    for (;;) {
      if (this.#hasLeft) return false;
      if (this.#socket === undefined) await new Promise<void>((resolve) => this.#wake.push(resolve));
      else {
        const ready = (this.#socket.isStopped ? undefined : this.#window.ready()) ?? this.#socket.ready();
        if (ready === undefined) return true;
        await ready;
      }
    }
  }
}

interface Waiting {
  readonly size: number;
  readonly enter: () => void;
}

/** Places at the work; whoever comes when all are taken waits, in order. */
class Places {
  readonly #count: number;
  #taken = 0;
  readonly #waiting = new Queue<Waiting>();
  #waitingSize = 0;

  constructor(count: number) {
    this.#count = count;
  }

  /** How many are at work, or wait for it. */
  get size(): number {
    return this.#taken + this.#waiting.size;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** The sizes of those who wait, in all. */
  get waitingSize(): number {
    return this.#waitingSize;
  }

  /** @returns what to wait for; `undefined` where there is a place */
  enter(size: number): Promise<void> | undefined {
    if (this.#taken < this.#count) {
      this.#taken++;
      return undefined;
    }
    this.#waitingSize += size;
    return new Promise((enter) => this.#waiting.push({ size, enter }));
  }

  leave(): void {
    if (this.#waiting.size === 0) {
      this.#taken--;
      return;
    }
    const next = this.#waiting.take();
    this.#waitingSize -= next.size;
    next.enter();
  }

  /** Lets all in: there will be no work for them. */
  open(): void {
    while (this.#waiting.size > 0) {
      this.#taken++;
      this.leave();
    }
  }
}
