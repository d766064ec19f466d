/** The same words in other places: from A to B, from B to A. */
import type { Analysis } from './analysis.js';
import { isFormat } from './lexicon/kinds.js';

/** What stands elsewhere, as a phrase for people; `null` where everything stands in its place. */
export function misplaced(pattern: Analysis, instruction: Analysis): string | null {
  const here = placesOf(pattern);
  const there = placesOf(instruction);
  for (const [key, places] of here) {
    const others = there.get(key);
    if (others !== undefined && places.length === others.length && !samePlaces(places, others)) return `"${key}"`;
  }
  for (const [group, heads] of pattern.heads) {
    const others = instruction.heads.get(group) ?? [];
    const lost = heads.find((head) => !others.includes(head));
    const gained = others.find((head) => !heads.includes(head));
    if (lost !== undefined && gained !== undefined) return `"${lost}" against "${gained}"`;
  }
  return null;
}

/** Actions whose objects may be told by where they come from: "the invoices from suppliers", "the supplier invoices". */
const GATHERING: ReadonlySet<string> = new Set([
  ...[
    'fetch',
    'process',
    'review',
    'flag',
    'approve',
    'reject',
    'pay',
    'check',
    'log',
    'report',
    'summarise',
    'analyse',
  ],
]);

/** Whether a relation says no more than that one thing belongs to another. */
export function isSoft(role: string, action: string): boolean {
  return role === 'from' && GATHERING.has(action);
}

interface Standing {
  readonly action: string;
  readonly role: string;
}

/** For each telling word the actions and relations that it stands in, sorted. */
function placesOf({ contents, actions }: Analysis): ReadonlyMap<string, readonly Standing[]> {
  const places = new Map<string, Standing[]>();
  for (const { key, light, action, role } of contents) {
    if (light) continue;
    const name = actions[action] ?? '';
    const list = places.get(key) ?? [];
    places.set(key, list);
    // In which form the answer is wanted can be said anywhere.
    list.push({ action: isFormat(key) ? '' : name, role: isSoft(role, name) ? '' : role });
  }
  for (const list of places.values()) list.sort((a, b) => compare(`${a.action} ${a.role}`, `${b.action} ${b.role}`));
  return places;
}

/** A sentence that asks for nothing says what it says of all the others. */
function samePlaces(here: readonly Standing[], there: readonly Standing[]): boolean {
  return here.every((one, index) => {
    const other = there[index]!;
    return one.role === other.role && (one.action === other.action || one.action === '' || other.action === '');
  });
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
