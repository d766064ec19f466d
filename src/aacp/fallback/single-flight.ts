/** One call for one key, however many ask: here and in other processes (draft-mackay-aacp-01, section 6.3). */

import { abortError, unlessAborted } from '../models/model.js';
import type { Registry } from '../registry/registry.js';
import { FallbackError } from './errors.js';

interface Flight<T> {
  readonly work: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
  /** Who asked; `null` once it has given up, until another takes its place. */
  asker: object | null;
}

/** Shares work between the callers of a key. */
export function singleFlight<T>() {
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
    /**
     * Runs the work, or waits for the one under way. The work's signal fires when nobody waits any longer.
     *
     * @returns `led` for the caller who asked, or has taken that one's place
     * @throws what the work throws; ModelError `model-aborted` when the caller's own signal fires
     */
    async run(key: string, work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal | undefined) {
      if (signal?.aborted) throw abortError(signal);
      const under = flights.get(key);
      // Work that nobody waits for is being aborted: a new caller begins anew.
      const flight = under === undefined || under.controller.signal.aborted ? begin(key, work) : under;
      const me = {};
      flight.asker ??= me;
      flight.waiting++;
      try {
        const value = await (signal === undefined ? flight.work : unlessAborted(signal, () => flight.work));
        // If the asker has given up, the first caller to get the result reports the cost.
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

/** Milliseconds that a process may be silent before another takes its place. */
const LEASE = 15_000;

/** Milliseconds between two looks for its entry, and looks between two reservations. */
const POLL = 50;
const LOOKS = 5;

/** The work of a caller that gets the turn, and of one that waits for it. */
interface TurnWork<T> {
  /** Returns another process's entry, if it serves. */
  readonly look: () => T | undefined;
  readonly work: () => Promise<T>;
  readonly signal: AbortSignal;
  readonly waitTimeoutMs: number;
}

/**
 * Does the work as the only process, or waits for the process that does it, and returns its entry.
 *
 * @param keys what to reserve: the key of the entry, and another one in case it has an entry which does not serve
 * @throws what the work throws; FallbackError `pending-elsewhere` if the other takes longer than `waitTimeoutMs` milliseconds
 */
export async function takeTurn<T>(
  registry: Registry,
  [key, otherKey]: readonly [string, string],
  { look, work, signal, waitTimeoutMs }: TurnWork<T>,
): Promise<{ readonly kind: 'known' | 'done'; readonly value: T }> {
  let asked = key;
  for (let waited = 0; ; waited += POLL * LOOKS) {
    // The answer comes without a registry that fails.
    const reservation = attempt(() => registry.reserve(asked, LEASE)) ?? null;
    // Another process may have stored it between the look before and the reservation.
    const known = look();
    if (known !== undefined) {
      if (reservation?.kind === 'granted') release(registry, asked, reservation.token);
      return { kind: 'known', value: known };
    }
    if (reservation === null) return { kind: 'done', value: await work() };
    if (reservation.kind === 'granted') {
      return { kind: 'done', value: await asHolder(registry, asked, reservation.token, work) };
    }
    if (reservation.kind === 'known') {
      if (asked === otherKey) return { kind: 'done', value: await work() };
      asked = otherKey;
      continue;
    }
    if (waited >= waitTimeoutMs) {
      throw new FallbackError({
        code: 'pending-elsewhere',
        message: `Another process has asked the model for this instruction and got no answer in ${waitTimeoutMs} milliseconds.`,
      });
    }
    for (let looks = 0; looks < LOOKS; looks++) {
      // Looking writes nothing, so that other waiting processes are not held up.
      await pause(POLL, signal);
      const entry = look();
      if (entry !== undefined) return { kind: 'known', value: entry };
    }
  }
}

async function asHolder<T>(registry: Registry, key: string, token: string, work: () => Promise<T>): Promise<T> {
  const renewal = setInterval(() => {
    // After a failure, the next one may work; if none does, another process asks a second time, which costs money and harms nothing.
    if (attempt(() => registry.renew(key, token, LEASE)) === false) clearInterval(renewal);
  }, LEASE / 3);
  // A process that has nothing else to do may end.
  (renewal as { unref?: () => void }).unref?.();
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    release(registry, key, token);
  }
}

/** A reservation that cannot be released expires by itself. */
function release(registry: Registry, key: string, token: string): void {
  attempt(() => registry.release(key, token));
}

function attempt<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch {
    return undefined;
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return unlessAborted(signal, () => new Promise((resolve) => setTimeout(resolve, milliseconds)));
}
