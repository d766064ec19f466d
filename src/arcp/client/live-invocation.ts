/** One invocation, as its client sees it. */

import { AsyncQueue } from '../../async/queue.js';
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError } from '../protocol/errors.js';
import { outcomeIn } from '../protocol/outcome.js';
import type { JobState } from '../protocol/payloads/parts.js';
import type { StreamKind } from '../protocol/payloads/stream.js';
import type { Content } from '../streams/content.js';
import type { StreamOptions, StreamWriter } from '../streams/contract.js';
import { StreamInbox } from '../streams/inbox.js';
import type { CancelOptions, Invocation } from './contract.js';
import { Seen } from './seen.js';

interface Settled<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

export interface InvocationHost {
  readonly pressure: (streamId: string, isFull: boolean) => void;
  readonly cancel: (invocation: LiveInvocation, options: CancelOptions) => Promise<void>;
  readonly upload: <K extends StreamKind>(invocation: LiveInvocation, options: StreamOptions<K>) => StreamWriter<K>;
}

export class LiveInvocation<R = unknown> implements Invocation<R> {
  readonly id: string | undefined;
  readonly #host: InvocationHost;
  readonly #accepted = settled<string | undefined>();
  readonly #result = settled<R>();
  readonly #queues = new Set<AsyncQueue<Envelope>>();
  readonly #streams: StreamInbox;
  #jobId: string | undefined;
  #state: JobState = 'accepted';
  #isOver = false;
  /** Why nothing more is heard of it, though it may go on. */
  #lost: unknown;
  #isAccepted = false;
  #lastMessageId: string | undefined;
  /** Messages that were told, while there are some that may come again. */
  #told: Seen | undefined;

  constructor(host: InvocationHost, id: string | undefined, jobId?: string) {
    this.#host = host;
    this.#streams = new StreamInbox({ pressure: host.pressure });
    this.id = id;
    this.#jobId = jobId;
  }

  get accepted(): Promise<string | undefined> {
    return this.#accepted.promise;
  }

  get state(): JobState {
    return this.#state;
  }

  get jobId(): string | undefined {
    return this.#jobId;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The last message of it that was seen. */
  get lastMessageId(): string | undefined {
    return this.#lastMessageId;
  }

  readonly events = (): AsyncIterableIterator<Envelope> => {
    const queue = new AsyncQueue<Envelope>(() => this.#queues.delete(queue));
    if (this.#isOver) queue.end(this.#lost);
    else this.#queues.add(queue);
    return queue;
  };

  readonly stream = <K extends StreamKind>(which?: K | string): AsyncIterableIterator<Content<K>> =>
    this.#streams.read<K>(which);

  readonly upload = <K extends StreamKind>(options: StreamOptions<K>): StreamWriter<K> => {
    if (this.#isOver || !this.#isAccepted)
      throw new ArcpError('FAILED_PRECONDITION', this.#isOver ? 'The work has ended' : 'The work was not accepted yet');
    return this.#host.upload(this as LiveInvocation<unknown>, options);
  };

  readonly result = (): Promise<R> => this.#result.promise;

  readonly cancel = (options: CancelOptions = {}): Promise<void> =>
    this.#host.cancel(this as LiveInvocation<unknown>, options);

  /** The runtime has taken it. */
  accept(jobId: string | undefined): void {
    this.#jobId ??= jobId;
    this.#isAccepted = true;
    this.#accepted.resolve(jobId);
  }

  /** It was refused. */
  fail(error: unknown): void {
    this.#accepted.reject(error);
    this.#end(() => this.#result.reject(error));
  }

  /** Nothing more is heard of it, though it may go on: whoever follows it must not take that for its end. */
  lose(error: unknown): void {
    if (!this.#isOver) this.#lost = error;
    this.fail(error);
  }

  /** A part of a stream cannot be read. */
  failStream(streamId: string, error: ArcpError): void {
    this.#streams.fail(streamId, error.toBody());
  }

  /** What was said of it before is told again, up to where it is now; some of it may come twice. */
  catchUp(): void {
    this.#told = new Seen();
  }

  caughtUp(): void {
    this.#told = undefined;
  }

  get isCatchingUp(): boolean {
    return this.#told !== undefined;
  }

  /** Something that was said of it. */
  take(message: Envelope): void {
    if (this.#isOver || this.#told?.add(message.id) === false) return;
    this.#lastMessageId = message.id;
    for (const queue of this.#queues) queue.push(message);
    this.#streams.take(message);
    this.#follow(message);
  }

  #follow(message: Envelope): void {
    switch (message.type) {
      case 'job.accepted':
        this.#state = message.payload.state ?? 'accepted';
        this.accept(message.payload.job_id ?? message.job_id);
        break;
      case 'job.started':
        this.#state = 'running';
        break;
      case 'event.emit':
        if (message.payload.name === 'arcp.job.state') this.#move(message.payload.attributes?.['to']);
        break;
      default:
        this.#conclude(message);
    }
  }

  #conclude(message: Envelope): void {
    // Calls that a job makes have results of their own.
    if (message.type.startsWith('tool.') && message.correlation_id !== this.id) return;
    const outcome = outcomeIn(message);
    if (outcome === undefined) return;
    this.#state = outcome.state;
    this.#accepted.resolve(this.#jobId);
    this.#end(() => {
      if (outcome.state === 'completed') this.#result.resolve(outcome.result as R);
      else this.#result.reject(outcome.error);
    });
  }

  #move(to: unknown): void {
    if (to === 'queued' || to === 'running' || to === 'blocked' || to === 'paused') this.#state = to;
  }

  #end(settle: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    settle();
    this.#streams.end(this.#lost);
    for (const queue of this.#queues) queue.end(this.#lost);
    this.#queues.clear();
  }
}

function settled<T>(): Settled<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((...settle) => {
    [resolve, reject] = settle;
  });
  // Whoever does not ask for it must not be ended by it.
  promise.catch(() => {});
  return { promise, resolve, reject };
}
