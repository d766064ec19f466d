import { byteLength } from '../text/bytes.js';
import { resolveChoice } from '../text/limits.js';
import { tooLongText } from './codec.js';
import { ConnectionError } from './errors.js';
import type { Id } from './message.js';
/**
 * Batches are of version 2 of ACP. `negotiated`: they are accepted until an `initialize` has agreed on version 1. `accept`: always.
 * `reject`: never.
 */
export type BatchChoice = 'negotiated' | 'accept' | 'reject';

/**
 * Methods that change which later messages are valid (ACP, transports: "SHOULD NOT batch lifecycle-sensitive messages"), and those of
 * the same kind that later versions have.
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

export class BatchPolicy {
  readonly #choice: BatchChoice;
  readonly #unbatchable: ReadonlySet<string>;
  #version: unknown;
  /** The other side has refused a batch. */
  isRefused = false;

  /** @throws TypeError if the choice is invalid */
  constructor(choice: BatchChoice | undefined, unbatchable: readonly string[] = []) {
    this.#choice = resolveChoice('batches', choice, ['negotiated', 'accept', 'reject']);
    this.#unbatchable = new Set([...LIFECYCLE_METHODS, ...unbatchable]);
  }

  /** Learns the version from the result of an `initialize` of either side. */
  initialized(result: unknown): void {
    if (typeof result === 'object' && result !== null && Object.hasOwn(result, 'protocolVersion'))
      this.#version = (result as { readonly protocolVersion: unknown }).protocolVersion;
  }

  readonly takes = (): boolean => this.#choice === 'accept' || (this.#choice === 'negotiated' && this.#version !== 1);

  /** @throws ConnectionError if the batch must not be sent */
  check(methods: readonly string[], max: number): void {
    if (methods.length === 0) throw new ConnectionError('not-batchable', 'A batch has at least one entry.');
    if (methods.length > max) throw new ConnectionError('not-batchable', `A batch has at most ${max} entries.`);
    const sensitive = methods.find((method) => this.#unbatchable.has(method));
    if (sensitive !== undefined)
      throw new ConnectionError('not-batchable', `${sensitive} changes what may follow it: it is sent by itself.`);
    if (this.#choice !== 'accept' && this.#version === 1)
      throw new ConnectionError('batches-refused', 'Version 1 of ACP was agreed on, which has no batches.');
    if (this.isRefused) throw new ConnectionError('batches-refused', 'The other side has refused a batch.');
  }
}

/** Bytes of a short error, with an identifier of usual length, that are reserved for each entry. */
const ERROR_LENGTH = 160;

/**
 * Collects the responses to the entries of one batch, an entry without a response included. An array without responses is not sent. A
 * response that does not fit becomes an error.
 */
export class BatchReply {
  readonly #responses: string[] = [];
  readonly #send: (text: string) => void;
  #open: number;
  #room: number;

  /**
   * @param entries how many will be {@link done}
   * @param room limit of the array in bytes
   */
  constructor(entries: number, room: number, send: (text: string) => void) {
    this.#open = entries;
    this.#room = room - entries * ERROR_LENGTH;
    this.#send = send;
  }

  /** One entry is done; `response` is its JSON, or `null` for none. */
  readonly done = (response: string | null, id: Id | undefined): void => {
    if (response !== null) this.#responses.push(this.#fits(response) ? response : tooLongText(id));
    if (--this.#open === 0 && this.#responses.length > 0) this.#send(`[${this.#responses.join(',')}]`);
  };

  #fits(response: string): boolean {
    const length = byteLength(response);
    if (length > ERROR_LENGTH + Math.max(0, this.#room)) return false;
    if (length > ERROR_LENGTH) this.#room -= length - ERROR_LENGTH;
    return true;
  }
}
