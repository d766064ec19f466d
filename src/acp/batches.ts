import { byteLength } from '../text/bytes.js';
import { resolveChoice } from '../text/limits.js';
import { tooLongResponse } from './codec.js';
import { ConnectionError } from './errors.js';
import type { Id } from './message.js';

/**
 * The handling of batches, which only version 2 of ACP has.
 *
 * - `negotiated`: they are accepted and sent, except after an `initialize` that agrees on version 1
 * - `accept`: they are always accepted and sent
 * - `reject`: received batches are rejected
 */
export type BatchChoice = 'negotiated' | 'accept' | 'reject';

/**
 * The methods that are never sent in a batch, since they change which later messages are valid (ACP, transports: "SHOULD NOT batch
 * lifecycle-sensitive messages"), including those of later versions.
 */
export const LIFECYCLE_METHODS: readonly string[] = [
  'initialize',
  'authenticate',
  'session/new',
  'session/load',
  'session/prompt',
  'auth/login',
  'session/resume',
];

/** Decides whether batches are sent and accepted. */
export class BatchPolicy {
  readonly #choice: BatchChoice;
  readonly #unbatchable: ReadonlySet<string>;
  #version: unknown;
  /** `true` if the other side has rejected a batch. */
  isRejected = false;

  /** @throws TypeError if the choice is invalid */
  constructor(choice: BatchChoice | undefined, unbatchable: readonly string[] = []) {
    this.#choice = resolveChoice('batches', choice, ['negotiated', 'accept', 'reject']);
    this.#unbatchable = new Set([...LIFECYCLE_METHODS, ...unbatchable]);
  }

  /** Records the version in the result of an `initialize` of either side. */
  onInitialize(result: unknown): void {
    if (typeof result === 'object' && result !== null && Object.hasOwn(result, 'protocolVersion'))
      this.#version = (result as { readonly protocolVersion: unknown }).protocolVersion;
  }

  readonly accepts = (): boolean => this.#choice === 'accept' || (this.#choice === 'negotiated' && this.#version !== 1);

  /** Checks a batch before it is sent. @throws ConnectionError `not-batchable` or `batches-refused` */
  check(methods: readonly string[], max: number): void {
    if (methods.length === 0) throw new ConnectionError('not-batchable', 'A batch must have at least one entry.');
    if (methods.length > max)
      throw new ConnectionError(
        'not-batchable',
        `A batch must have at most ${max} entries; this one has ${methods.length}.`,
      );
    const unbatchable = methods.find((method) => this.#unbatchable.has(method));
    if (unbatchable !== undefined)
      throw new ConnectionError(
        'not-batchable',
        `${unbatchable} must not be sent in a batch; send it as a single message.`,
      );
    if (this.#choice !== 'accept' && this.#version === 1)
      throw new ConnectionError(
        'batches-refused',
        'The connection uses version 1 of ACP, which has no batches; send single messages.',
      );
    if (this.isRejected)
      throw new ConnectionError('batches-refused', 'The other side has rejected a batch; send single messages.');
  }
}

/** The bytes that are reserved for each entry: enough for a short error with an identifier of common length. */
const ERROR_LENGTH = 160;

/**
 * Collects the responses to the entries of one batch and sends them as one array. An empty array is not sent. A response that exceeds the
 * limit is replaced by an error.
 */
export class BatchReply {
  readonly #responses: string[] = [];
  readonly #send: (text: string) => void;
  /** The number of entries that are not done. */
  #pending: number;
  /** Bytes that are left in the array. */
  #room: number;

  /**
   * @param entries the number of entries, each of which calls {@link done} once
   * @param room the maximum length of the array in bytes
   */
  constructor(entries: number, room: number, send: (text: string) => void) {
    this.#pending = entries;
    this.#room = room - entries * ERROR_LENGTH;
    this.#send = send;
  }

  /** Completes an entry. @param response the response as JSON, or `null` if there is none */
  readonly done = (response: string | null, id: Id | undefined): void => {
    if (response !== null) this.#responses.push(this.#fits(response) ? response : tooLongResponse(id));
    if (--this.#pending === 0 && this.#responses.length > 0) this.#send(`[${this.#responses.join(',')}]`);
  };

  #fits(response: string): boolean {
    const length = byteLength(response);
    if (length > ERROR_LENGTH + Math.max(0, this.#room)) return false;
    if (length > ERROR_LENGTH) this.#room -= length - ERROR_LENGTH;
    return true;
  }
}
