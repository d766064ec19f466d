/** States for tests: with a store in memory, exact counts, and a clock that stands still. */

import { createState, type HotFrame, type SessionState, type StateOptions } from '../../../src/accp/state/state.js';
import { stateText } from '../../../src/accp/state/tier.js';
import { Journal } from '../../../src/accp/store/journal.js';
import { memoryStore } from '../../../src/accp/store/memory.js';
import type { SessionStore } from '../../../src/accp/store/store.js';
import { loadTokenCounter } from '../../../src/tokens/load-counter.js';

export const counter = await loadTokenCounter('o200k_base');

export interface Opened {
  readonly state: SessionState;
  readonly journal: Journal;
  readonly store: SessionStore;
  readonly clock: { now: number };
  readonly notes: { readonly type: string; readonly message: string }[];
}

export interface OpenOptions extends Partial<StateOptions> {
  readonly store?: SessionStore;
  readonly agent?: string;
  /** If true, every commit is written, as with a file, and uncommitted changes are lost with the process. */
  readonly durable?: boolean;
}

export function open({ store = memoryStore(), agent = 'me', durable = true, ...options }: OpenOptions = {}): Opened {
  const session = options.session ?? 'own';
  const journal = new Journal(store.claim(session, agent), durable);
  const clock = { now: 1_775_466_037 };
  const notes: { type: string; message: string }[] = [];
  const state = createState({
    session,
    journal,
    counter,
    now: () => clock.now * 1000,
    emit: (type, message) => notes.push({ type, message }),
    ...options,
  });
  return { state, journal, store, clock, notes };
}

let mids = 0;

/** A message for hot state; its text is like that of a frame. */
export function message(given: Partial<HotFrame> = {}): HotFrame {
  const { agent = 'dev', intent = 'ack', operation = 'plan', payload = {} } = given;
  const text = `@${agent}>${intent}:${operation}${stateText(payload).replaceAll('"', '')}`;
  return { agent, intent, operation, payload, mid: `m${mids++}`, text, ...given };
}

/** The code of the error that a call throws. */
export function codeOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
  return 'none';
}
