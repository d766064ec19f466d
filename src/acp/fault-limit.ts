/** How long junk is answered. */
import { ERROR_CODES } from './errors.js';

/** Texts in a row that are no JSON and are answered: two sides that answer each other's junk would never end. */
const MAX_FAULTS = 1000;

/** Counts texts that are no JSON, until a message comes. What is JSON and no message is always answered. */
export class FaultLimit {
  #faults = 0;

  /** @returns whether a fault is answered */
  answers(rpcCode: number): boolean {
    return rpcCode !== ERROR_CODES.parseError || ++this.#faults <= MAX_FAULTS;
  }

  /** A message has come. */
  reset(): void {
    this.#faults = 0;
  }
}
