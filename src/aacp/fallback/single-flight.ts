/** One call for one key, however many ask: here and in other processes (draft-mackay-aacp-01, section 6.3). */

import { abortError, unlessAborted } from '../models/model.js';
import type { Registry, Reservation } from '../registry/registry.js';
import { FallbackError } from './errors.js';

/** Work that several wait for. */
interface Flight<T> {
  readonly work: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
  /** Who asked; `null` once it has given up, until another takes its place. */
  asker: object | null;
}

/** How a caller came to the result: it is the one who asked, or has taken its place; or it waited for another. */
interface Landed<T> {
  readonly value: T;
  readonly led: boolean;
}

interface SingleFlight<T> {
  /**
   * Runs the work, or waits for the one that is under way. The work's signal fires when nobody waits any longer.
   *
   * @throws what the work throws; ModelError `model-aborted` when the caller's own signal fires
   */
  readonly run: (
    key: string,
    work: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ) => Promise<Landed<T>>;
}

export function singleFlight<T>(): SingleFlight<T> {
  const flights = new Map<string, Flight<T>>();

  function begin(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const flight: Flight<T> = { work: work(controller.signal), controller, waiting: 0, asker: null };
    flights.set(key, flight);
    const end = (): void => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    flight.work.then(end, end);
    return flight;
  }

  return {
    async run(key, work, signal) {
      if (signal?.aborted) throw abortError(signal);
      const under = flights.get(key);
      // What nobody waits for is being given up: who comes now begins anew.
      const flight = under === undefined || under.controller.signal.aborted ? begin(key, work) : under;
      const me = {};
      flight.asker ??= me;
      flight.waiting++;
      try {
        const value = await (signal === undefined ? flight.work : unlessAborted(signal, () => flight.work));
        // Where who asked has given up, the first who gets the result has asked for it: somebody has to say what it cost.
        flight.asker ??= me;
        return { value, led: flight.asker === me };
      } catch (thrown) {
        if (flight.asker === me) flight.asker = null;
        throw thrown;
      } finally {
        flight.waiting--;
        if (flight.waiting === 0) flight.controller.abort();
      }
    },
  };
}

/** How long a process may be silent before others take its place, in milliseconds. */
const LEASE = 15_000;

/** How often is looked for its entry, in milliseconds; and after how many looks its place is asked for again. */
const POLL = 50;
const LOOKS = 5;

/** What came of asking for the right to call. */
interface Turn<T> {
  /** `known`: the entry of another process. */
  readonly kind: 'known' | 'done';
  readonly value: T;
}

/** The work of a caller that gets the turn, and of one that waits for it. */
interface TurnWork<T> {
  /** Gives what another process has stored, where it serves. */
  readonly look: () => T | undefined;
  readonly work: () => Promise<T>;
  readonly signal: AbortSignal;
  /** Milliseconds to wait for another process. */
  readonly patience: number;
}

/**
 * Does the work as the only process that does; or waits for the one that is at it, and gives its entry.
 *
 * @param keys what to reserve: the key of the entry, and another one for when that has an entry which does not serve
 * @throws what the work throws; FallbackError `pending-elsewhere` when the other takes longer than `patience` milliseconds
 */
export async function takeTurn<T>(
  registry: Registry,
  [key, otherKey]: readonly [string, string],
  { look, work, signal, patience }: TurnWork<T>,
): Promise<Turn<T>> {
  let asked = key;
  for (let waited = 0; ; waited += POLL * LOOKS) {
    const reservation = reserve(registry, asked);
    // Another process may have stored it between the look before and the reservation.
    const known = look();
    if (known !== undefined) {
      if (reservation?.kind === 'mine') release(registry, asked, reservation.token);
      return { kind: 'known', value: known };
    }
    if (reservation === null) return { kind: 'done', value: await work() };
    if (reservation.kind === 'mine') {
      return { kind: 'done', value: await asHolder(registry, asked, reservation.token, work) };
    }
    if (reservation.kind === 'known') {
      if (asked === otherKey) return { kind: 'done', value: await work() };
      asked = otherKey;
      continue;
    }
    if (waited >= patience) {
      throw new FallbackError({
        code: 'pending-elsewhere',
        message: `Another process has asked the model for this instruction and got no answer in ${patience} milliseconds.`,
      });
    }
    for (let looks = 0; looks < LOOKS; looks++) {
      // Looking writes nothing, so that the others who wait are not held up.
      await pause(POLL, signal);
      const entry = look();
      if (entry !== undefined) return { kind: 'known', value: entry };
    }
  }
}

/** `null` when the registry fails: what can be answered without it, is. */
function reserve(registry: Registry, key: string): Reservation | null {
  try {
    return registry.reserve(key, LEASE);
  } catch {
    return null;
  }
}

async function asHolder<T>(registry: Registry, key: string, token: string, work: () => Promise<T>): Promise<T> {
  const renewal = setInterval(() => renewOrStop(), LEASE / 3);
  // A process that has nothing else to do may end.
  (renewal as { unref?: () => void }).unref?.();
  function renewOrStop(): void {
    try {
      if (!registry.renew(key, token, LEASE)) clearInterval(renewal);
    } catch {
      // The next one may work; if none does, another process asks a second time, which costs money and harms nothing.
    }
  }
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    release(registry, key, token);
  }
}

function release(registry: Registry, key: string, token: string): void {
  try {
    registry.release(key, token);
  } catch {
    // It ends by itself. What the work came to is what counts.
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return unlessAborted(signal, () => new Promise((resolve) => setTimeout(resolve, milliseconds)));
}
