/** Who calls the model for what, within one process. */
import type { Reservation } from './registry.js';

interface Held {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

export interface MemoryReservations {
  readonly reserve: (key: string, now: number, milliseconds: number) => Reservation;
  readonly renew: (key: string, token: string, now: number, milliseconds: number) => boolean;
  readonly release: (key: string, token: string) => void;
  /** Ends the reservation of a key, whoever has it. */
  readonly end: (key: string) => void;
}

/** Reservations beyond which those are dropped that ended by themselves. */
const SWEEP = 1000;

export function memoryReservations(): MemoryReservations {
  const reservations = new Map<string, Held>();
  let issued = 0;
  let sweepAt = SWEEP;

  function sweep(now: number): void {
    for (const [key, held] of reservations) if (!isHeld(held, now)) reservations.delete(key);
    sweepAt = Math.max(SWEEP, 2 * reservations.size);
  }

  return {
    reserve(key, now, milliseconds) {
      const held = reservations.get(key);
      if (held !== undefined && isHeld(held, now)) return { kind: 'taken', until: held.until };
      if (reservations.size >= sweepAt) sweep(now);
      const token = `${++issued}`;
      reservations.set(key, { token, until: now + milliseconds });
      return { kind: 'mine', token };
    },
    renew(key, token, now, milliseconds) {
      if (reservations.get(key)?.token !== token) return false;
      reservations.set(key, { token, until: now + milliseconds });
      return true;
    },
    release(key, token) {
      if (reservations.get(key)?.token === token) reservations.delete(key);
    },
    end: (key) => void reservations.delete(key),
  };
}

function isHeld({ until }: Held, now: number): boolean {
  return until > now;
}
