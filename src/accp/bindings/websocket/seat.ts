/** A session on the answering side, with its current connection. */

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
  readonly resumeWindowMs: number;
  readonly maxConcurrent: number;
  readonly failed: (error: Error) => void;
  /** The connection was lost; the other side may come back. */
  readonly away: () => void;
  /** The other side is not expected back. */
  readonly left: () => void;
}

const REGISTRY = />sync:registry[{[]/;
const CANCEL = /^@[^>]*>cancel:/;

/** Limits of the messages that wait for the handler before reading stops: their number, and their characters in all. */
const MAX_WAITING = 1024;
const MAX_WAITING_LENGTH = 4_194_304;

export class Seat {
  readonly #endpoint: Endpoint;
  readonly #session: Session;
  readonly #options: SeatOptions;
  readonly #release: () => void;
  /** Controllers of the frames under way: one for all would have too many listeners. */
  readonly #under = new Set<AbortController>();
  /** Limits the messages that are handled at once; others wait, in order. */
  readonly #places: Semaphore;
  /** Messages that are handled, or wait for that. */
  #admitted = 0;
  #waiting = 0;
  #waitingLength = 0;
  readonly #window: SendWindow;
  /** Messages that this side sends by itself go out one after the other. */
  readonly #turns = new Semaphore(1);
  #socket: FrameSocket | undefined;
  #heartbeat: Heartbeat | undefined;
  #stopLeaving = (): void => undefined;
  #wake: (() => void)[] = [];
  /** Frames under way: decoded, waiting for the handler, handled, or waiting to be sent. */
  #working = 0;
  #hasLeft = false;
  readonly #stretch = new Stretch();
  #isPinging = false;
  #wasBusy = false;

  constructor(endpoint: Endpoint, session: Session, options: SeatOptions) {
    this.#endpoint = endpoint;
    this.#session = session;
    this.#options = options;
    this.#release = endpoint.retain(session);
    this.#window = new SendWindow(partsOfSession(session).outbox.max);
    this.#places = new Semaphore(options.maxConcurrent);
  }

  get sid(): string {
    return this.#session.id;
  }

  get isConnected(): boolean {
    return this.#socket !== undefined;
  }

  isStale(head: FrameHead): boolean {
    return isStale(head, this.#session);
  }

  connect(socket: FrameSocket, first: string): void {
    this.#socket?.close(CLOSE.replaced, 'the session goes on over another connection');
    this.#stopLeaving();
    this.#socket = socket;
    this.#window.restart();
    if (this.#isBusy) socket.pause();
    this.#heartbeat?.stop();
    this.#heartbeat = startHeartbeat(this.#options, socket, () => void this.#ping());
    void this.#greet(socket, first);
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** The codec answers the first frame by a registry only if it has not done so before. */
  async #greet(socket: FrameSocket, first: string): Promise<void> {
    const isSaid = await this.#received(first, REGISTRY);
    // After a reconnection, it says how far this side has got: lost frames are missed now, and sent again.
    if (!isSaid && this.#socket === socket) await this.#say((codec) => codec.announce(this.#session).frames);
  }

  take(frame: string): void {
    this.heard(frame);
    void this.#received(frame);
  }

  /** Answers a frame. Only so many messages are handled at once, but a `cancel` is handled immediately. */
  async #received(frame: string, like?: RegExp): Promise<boolean> {
    const controller = new AbortController();
    this.#under.add(controller);
    let isAdmitted = false;
    let release: (() => void) | undefined;
    const isUrgent = CANCEL.test(frame);
    const admit = (): Promise<void> | undefined => {
      if (isUrgent) return undefined;
      isAdmitted = true;
      this.#admitted++;
      const place = this.#places.acquire(controller.signal);
      if (typeof place === 'function') {
        release = place;
        this.#balance();
        return undefined;
      }
      const admitted = (given?: () => void): void => {
        release = given;
        this.#waiting--;
        this.#waitingLength -= frame.length;
        this.#balance();
      };
      this.#waiting++;
      this.#waitingLength += frame.length;
      this.#balance();
      return place.then(admitted, () => admitted());
    };
    try {
      return await this.#work(this.#endpoint.receive(frame, this.#session, controller.signal, admit), like);
    } finally {
      this.#under.delete(controller);
      if (isAdmitted) this.#admitted--;
      release?.();
      this.#balance();
    }
  }

  /** A frame has come, even if it is not processed yet. */
  heard(frame: string): void {
    this.#heartbeat?.alive();
    this.#window.arrived(frame);
  }

  /** Nothing is read for now, so no `pong` can be waited for. */
  stopped(): void {
    this.#window.release();
  }

  /**
   * @returns whether it was sent
   * @throws AccpError if the message cannot be sent
   * @throws StoreError when the session's store fails
   */
  async say(message: MessageInput | string): Promise<boolean> {
    const turn = this.#turns.acquire();
    const end = typeof turn === 'function' ? turn : await turn;
    try {
      // Nothing is numbered while there is no connection.
      if (!(await this.#ready())) return false;
      // A message that cannot be encoded takes no number.
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

  /** One at a time: if the other side takes nothing, more of them would only pile up. */
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
      this.#stopLeaving = afterUnref(this.#options.resumeWindowMs, () => this.leave());
      this.#options.away();
    }
  }

  close(code: number, reason: string): void {
    this.#socket?.close(code, reason);
    this.leave();
  }

  /** Ends what is under way. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#stopLeaving();
    this.#heartbeat?.stop();
    const reason = new Error('the other side has gone');
    for (const controller of this.#under) controller.abort(reason);
    partsOfSession(this.#session).streams.cut();
    this.#window.release();
    for (const wake of this.#wake.splice(0)) wake();
    this.#release();
    this.#options.left();
  }

  async #say(make: (codec: Codec) => readonly string[]): Promise<void> {
    await this.#work(this.#endpoint.send(make, this.#session));
  }

  /**
   * Sends frames as they come; without a connection, they are not asked for.
   *
   * @returns whether one of them matches `like`
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

  get #isBusy(): boolean {
    const isFull = this.#waiting >= MAX_WAITING || this.#waitingLength >= MAX_WAITING_LENGTH;
    return isFull || this.#working - this.#admitted >= this.#options.maxConcurrent;
  }

  #balance(): void {
    const isBusy = this.#isBusy;
    if (isBusy === this.#wasBusy) return;
    this.#wasBusy = isBusy;
    if (isBusy) this.#socket?.pause();
    else this.#socket?.resume();
  }

  /** The session has ended with its store; a client that comes back finds one that goes on from what was stored. */
  #broken(thrown: unknown): void {
    this.#options.failed(thrown instanceof Error ? thrown : new Error(String(thrown)));
    if (!(thrown instanceof StoreError)) return;
    this.#socket?.close(CLOSE.failed, 'the session has failed');
    this.leave();
  }

  /** @returns `false` when the other side is not expected back */
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
