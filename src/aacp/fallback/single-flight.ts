/** Limits each key to one concurrent call, in this process and across processes (draft-mackay-aacp-01, section 6.3). */

import { abortError, unlessAborted } from '../models/model.js';
import type { Registry } from '../registry/registry.js';
import { FallbackError } from './errors.js';

interface Flight<T> {
  readonly work: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
  /** The caller that reports the cost; `null` once it has aborted, until another caller replaces it. */
  leader: object | null;
}

/** Shares work between the callers of a key. */
export function singleFlight<T>() {
  const flights = new Map<string, Flight<T>>();

  function begin(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const flight: Flight<T> = { work: work(controller.signal), controller, waiting: 0, leader: null };
    flights.set(key, flight);
    const end = (): void => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    flight.work.then(end, end);
    return flight;
  }

  return {
    /**
     * Runs the work, or waits for the same work of another caller. The signal of the work is aborted when no caller waits any longer.
     *
     * @returns `led` is `true` for the caller that started the work, or for the one that replaced it
     * @throws the error of the work; ModelError with code `model-aborted` when the caller's signal is aborted
     */
    async run(key: string, work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal | undefined) {
      if (signal?.aborted) throw abortError(signal);
      const current = flights.get(key);
      // Work without waiting callers is being aborted: a new caller starts again.
      const flight = current === undefined || current.controller.signal.aborted ? begin(key, work) : current;
      const me = {};
      flight.leader ??= me;
      flight.waiting++;
      try {
        const value = await (signal === undefined ? flight.work : unlessAborted(signal, () => flight.work));
        // If the leader has aborted, the first caller with the result replaces it.
        flight.leader ??= me;
        return { value, led: flight.leader === me };
      } catch (thrown) {
        if (flight.leader === me) flight.leader = null;
        throw thrown;
      } finally {
        flight.waiting--;
        if (flight.waiting === 0) flight.controller.abort();
      }
    },
  };
}

/** Milliseconds after which the reservation of a silent process expires. */
const LEASE_MS = 15_000;

/** Milliseconds between two polls for the entry, and polls between two reservations. */
const POLL_MS = 50;
const POLLS = 5;

/** The work of a caller, and how it polls for the result of another process. */
interface ExclusiveWork<T> {
  /** Returns the entry of another process, if it can be used. */
  readonly poll: () => T | undefined;
  readonly work: () => Promise<T>;
  readonly signal: AbortSignal;
  readonly waitTimeoutMs: number;
}

/**
 * Does the work as the only process, or waits for the process that does it and returns its entry.
 *
 * @param keys the keys to reserve: that of the entry, and another one if the first has an entry that cannot be used
 * @throws the error of the work; FallbackError with code `pending-elsewhere` if the other process takes longer than `waitTimeoutMs`
 */
export async function runExclusively<T>(
  registry: Registry,
  [key, otherKey]: readonly [string, string],
  { poll, work, signal, waitTimeoutMs }: ExclusiveWork<T>,
): Promise<{ readonly kind: 'known' | 'done'; readonly value: T }> {
  let current = key;
  for (let waited = 0; ; waited += POLL_MS * POLLS) {
    // If the registry fails, the work is done without it.
    const reservation = attempt(() => registry.reserve(current, LEASE_MS)) ?? null;
    // Another process may have stored the entry between the last poll and the reservation.
    const known = poll();
    if (known !== undefined) {
      if (reservation?.kind === 'granted') release(registry, current, reservation.token);
      return { kind: 'known', value: known };
    }
    if (reservation === null) return { kind: 'done', value: await work() };
    if (reservation.kind === 'granted') {
      return { kind: 'done', value: await withLease(registry, current, reservation.token, work) };
    }
    if (reservation.kind === 'known') {
      if (current === otherKey) return { kind: 'done', value: await work() };
      current = otherKey;
      continue;
    }
    if (waited >= waitTimeoutMs) {
      throw new FallbackError({
        code: 'pending-elsewhere',
        message: `Another process is encoding the same instruction, and did not finish within ${waitTimeoutMs} ms.`,
        help: 'try again, or increase waitTimeoutMs',
      });
    }
    for (let polls = 0; polls < POLLS; polls++) {
      // A poll writes nothing, so it does not delay other processes.
      await pause(POLL_MS, signal);
      const entry = poll();
      if (entry !== undefined) return { kind: 'known', value: entry };
    }
  }
}

async function withLease<T>(registry: Registry, key: string, token: string, work: () => Promise<T>): Promise<T> {
  const renewal = setInterval(() => {
    // After a failure, the next renewal may succeed. If none does, another process repeats the call, which costs money and does no harm.
    if (attempt(() => registry.renew(key, token, LEASE_MS)) === false) clearInterval(renewal);
  }, LEASE_MS / 3);
  // The timer does not keep the process alive.
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

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return unlessAborted(signal, () => new Promise((resolve) => setTimeout(resolve, delayMs)));
}
