import { resolveNow } from './audit.js';

/** What stands outside the packet, on the transport: AACP has no place for it. */
export interface Envelope {
  /** Chosen by the sender, never twice: 1 to 256 UTF-16 code units. */
  readonly nonce: string;
  /** When it was sent, in milliseconds since 1970. */
  readonly sentAt: number;
}

/**
 * - `no-envelope`, `bad-envelope`: there is no nonce or time, or it is malformed.
 * - `too-old`, `too-new`: the time is outside the window.
 * - `repeated`: the nonce was seen before.
 * - `guard-full`: the capacity is reached; new nonces are refused until others expire.
 */
export type ReplayReason = 'no-envelope' | 'bad-envelope' | 'too-old' | 'too-new' | 'repeated' | 'guard-full';

export type Admission =
  | {
      readonly ok: true;
      /** Forgets the nonce again, where nothing came of the packet. To be called once at most. */
      readonly release: () => void;
    }
  | { readonly ok: false; readonly reason: ReplayReason };

export interface ReplayGuard {
  readonly admit: (envelope: Envelope | undefined) => Admission;
  /** Nonces that are remembered now. */
  readonly size: () => number;
}

export interface ReplayGuardOptions {
  /** Milliseconds by which the time of a packet may differ from ours, to both sides. @default 300000 */
  readonly windowMs?: number | undefined;
  /** Milliseconds since 1970. @default the system's clock */
  readonly now?: (() => number) | undefined;
  /** Most nonces that are remembered. @default 100000 */
  readonly capacity?: number | undefined;
}

const MAX_NONCE = 256;
/** Nonces expire in groups: their number per window. */
const GROUPS = 64;

/**
 * Creates a guard that admits each nonce once. Nonces are remembered as long as their time is in the window, within this
 * process: after a restart, refuse older packets. At `capacity`, packets are refused and nothing is forgotten early.
 * @throws TypeError if an option is invalid
 */
export function replayGuard(options: ReplayGuardOptions = {}): ReplayGuard {
  const { windowMs = 300_000, capacity = 100_000 } = options;
  const now = resolveNow(options);
  if (!Number.isFinite(windowMs) || windowMs <= 0)
    throw new TypeError('windowMs must be a finite number of milliseconds above 0');
  if (!Number.isSafeInteger(capacity) || capacity < 1) throw new TypeError('capacity must be a whole number from 1 on');
  const width = windowMs / GROUPS;
  /** Each nonce with the group that it is forgotten with. */
  const nonces = new Map<string, number>();
  const groups = new Map<number, Set<string>>();
  /** Nonces of earlier groups may be forgotten, even if the clock is set back; later ones are admitted at once. */
  let oldest = Number.NEGATIVE_INFINITY;
  /** The group of the time of the last look. */
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
    // Its nonce may have been forgotten: that it was not seen says nothing.
    if (sentAt < time - windowMs || group < oldest) return { ok: false, reason: 'too-old' };
    if (sentAt > time + windowMs) return { ok: false, reason: 'too-new' };
    if (nonces.has(nonce)) return { ok: false, reason: 'repeated' };
    if (nonces.size >= capacity) return { ok: false, reason: 'guard-full' };
    nonces.set(nonce, group);
    const members = groups.get(group) ?? new Set();
    groups.set(group, members.add(nonce));
    return { ok: true, release: () => release(nonce, group) };
  }

  /** Not the nonce of somebody who came later. */
  function release(nonce: string, group: number): void {
    if (nonces.get(nonce) !== group) return;
    nonces.delete(nonce);
    groups.get(group)?.delete(nonce);
  }

  return { admit, size: () => nonces.size };
}
