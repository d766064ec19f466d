import { resolveNow } from './audit.js';

/** Data that the transport carries with a packet, since AACP has no field for it. */
export interface Envelope {
  /** Chosen by the sender, unique for each packet: 1 to 256 UTF-16 code units. */
  readonly nonce: string;
  /** The time of sending, in milliseconds since 1970. */
  readonly sentAt: number;
}

/**
 * The reason why a replay guard rejects a packet.
 *
 * - `no-envelope`, `bad-envelope`: the nonce or the time is missing or malformed.
 * - `too-old`, `too-new`: the time is outside the window.
 * - `repeated`: the nonce was used before.
 * - `guard-full`: the guard is at its capacity; new nonces are rejected until others expire.
 */
export type ReplayReason = 'no-envelope' | 'bad-envelope' | 'too-old' | 'too-new' | 'repeated' | 'guard-full';

/** The answer of a replay guard. */
export type Admission =
  | {
      /** `true`: the packet may be handled. */
      readonly ok: true;
      /** Forgets the nonce again, if the packet was not handled after all. May be called once. */
      readonly release: () => void;
    }
  | {
      /** `false`: the packet must not be handled. */
      readonly ok: false;
      /** The reason. */
      readonly reason: ReplayReason;
    };

/** Admits each nonce once. */
export interface ReplayGuard {
  /** Admits a packet and remembers its nonce, or rejects it. */
  readonly admit: (envelope: Envelope | undefined) => Admission;
  /** Returns the number of nonces that are remembered. */
  readonly size: () => number;
}

/** Options of `replayGuard`. */
export interface ReplayGuardOptions {
  /** Milliseconds by which the time of a packet may differ from the clock, in either direction. @default 300000 */
  readonly windowMs?: number | undefined;
  /** Returns milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
  /** The maximum number of nonces that are remembered. @default 100000 */
  readonly capacity?: number | undefined;
}

const MAX_NONCE = 256;
/** Nonces expire in groups. This is the number of groups per window. */
const GROUPS = 64;

/**
 * Creates a guard that admits each nonce once. It remembers a nonce while its time is in the window, in the memory of this process: after a
 * restart, reject packets that are older. At `capacity`, packets are rejected; no nonce is forgotten early.
 *
 * @throws TypeError if an option is invalid
 */
export function replayGuard(options: ReplayGuardOptions = {}): ReplayGuard {
  const { windowMs = 300_000, capacity = 100_000 } = options;
  const now = resolveNow(options);
  if (!Number.isFinite(windowMs) || windowMs <= 0)
    throw new TypeError('windowMs must be a finite number of milliseconds above 0');
  if (!Number.isSafeInteger(capacity) || capacity < 1) throw new TypeError('capacity must be a positive integer');
  const width = windowMs / GROUPS;
  /** Each nonce with the group in which it expires. */
  const nonces = new Map<string, number>();
  const groups = new Map<number, Set<string>>();
  /** The oldest group that is complete: nonces of earlier ones may be forgotten, even if the clock is set back. */
  let oldest = Number.NEGATIVE_INFINITY;
  /** The group of the time at which groups were last removed. */
  let looked = Number.NaN;

  function forget(time: number): void {
    const current = Math.floor(time / width);
    if (current === looked) return;
    looked = current;
    for (const [group, members] of groups) {
      if (group >= current) continue;
      for (const nonce of members) nonces.delete(nonce);
      groups.delete(group);
      oldest = Math.max(oldest, group + 1);
    }
  }

  function admit(envelope: Envelope | undefined): Admission {
    if (envelope === undefined || envelope === null) return { ok: false, reason: 'no-envelope' };
    const { nonce, sentAt } = envelope;
    if (typeof nonce !== 'string' || nonce === '' || nonce.length > MAX_NONCE || !Number.isFinite(sentAt)) {
      return { ok: false, reason: 'bad-envelope' };
    }
    const time = now();
    if (!Number.isFinite(time)) throw new TypeError('now must return milliseconds since 1970');
    forget(time);
    const group = Math.floor((sentAt + windowMs) / width);
    // Its nonce may have been forgotten, so it may be a replay.
    if (sentAt < time - windowMs || group < oldest) return { ok: false, reason: 'too-old' };
    if (sentAt > time + windowMs) return { ok: false, reason: 'too-new' };
    if (nonces.has(nonce)) return { ok: false, reason: 'repeated' };
    if (nonces.size >= capacity) return { ok: false, reason: 'guard-full' };
    nonces.set(nonce, group);
    const members = groups.get(group) ?? new Set();
    groups.set(group, members.add(nonce));
    return { ok: true, release: () => release(nonce, group) };
  }

  /** Forgets a nonce, unless another packet has used it since. */
  function release(nonce: string, group: number): void {
    if (nonces.get(nonce) !== group) return;
    nonces.delete(nonce);
    groups.get(group)?.delete(nonce);
  }

  return { admit, size: () => nonces.size };
}
