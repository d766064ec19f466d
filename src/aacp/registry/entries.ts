/** Entries, made in one place. */
import type { NewEntry, RegistryEntry } from './registry.js';

/** What changes of an entry while it is kept. */
export type EntryState = Pick<RegistryEntry, 'created' | 'lastSeen' | 'timesSeen'> & { readonly covered: boolean };

/** An entry with its state. */
export function entryWith(entry: Omit<NewEntry, keyof EntryState>, state: EntryState): RegistryEntry {
  // Member by member: to spread what is not one object takes many times as long, and this is done at each hit.
  return {
    key: entry.key,
    id: entry.id,
    instruction: entry.instruction,
    normalised: entry.normalised,
    domain: entry.domain,
    returnAgent: entry.returnAgent,
    priority: entry.priority,
    version: entry.version,
    packet: entry.packet,
    origin: entry.origin,
    model: entry.model,
    cost: entry.cost,
    terms: entry.terms,
    said: entry.said,
    created: state.created,
    lastSeen: state.lastSeen,
    timesSeen: state.timesSeen,
    covered: state.covered,
  };
}
