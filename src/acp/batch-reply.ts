/** What answers a batch: one array, when all of it has been processed (ACP, transports, "JSON-RPC Batch Messages"). */
import { byteLength } from '../text/bytes.js';
import type { Id } from './message.js';
import { tooLongText } from './writing.js';

/** Bytes of an error that says little, with an identifier of usual length: room that each entry keeps. */
const ERROR_LENGTH = 160;

/**
 * Collects the responses to the entries of one batch. An entry that gets no response, such as a notification, counts as well: the
 * array waits for it. Where there is nothing to say, nothing is sent, and never an empty array. A response that finds no room is
 * an error instead.
 */
export class BatchReply {
  readonly #responses: string[] = [];
  readonly #send: (text: string) => void;
  #open: number;
  #room: number;

  /**
   * @param entries how many will be {@link done}
   * @param room bytes that the array may have
   */
  constructor(entries: number, room: number, send: (text: string) => void) {
    this.#open = entries;
    this.#room = room - entries * ERROR_LENGTH;
    this.#send = send;
  }

  /** One entry has been processed; `response` is its JSON, or `null` for none. */
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
