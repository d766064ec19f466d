/** The same words in other places: from A to B, from B to A. */
import type { Analysis } from './analysis.js';
import { isAdjective, isFormat } from './lexicon/kinds.js';

/** What stands elsewhere, as a phrase for people; `null` where everything stands in its place. */
export function misplaced(pattern: Analysis, instruction: Analysis): string | null {
  const here = placesOf(pattern);
  const there = placesOf(instruction);
  for (const [key, places] of here) {
    const others = there.get(key);
    if (others !== undefined && places.length === others.length && !samePlaces(places, others)) return `"${key}"`;
  }
  const quality = otherOwner(pattern, instruction);
  if (quality !== null) return quality;
  for (const [group, heads] of pattern.heads) {
    const others = instruction.heads.get(group) ?? [];
    const lost = heads.find((head) => !others.includes(head));
    const gained = others.find((head) => !heads.includes(head));
    if (lost !== undefined && gained !== undefined) return `"${lost}" against "${gained}"`;
  }
  return null;
}

/** A quality that belongs to one thing here and to another there: "new contracts of employees", "contracts of new employees". */
function otherOwner(pattern: Analysis, instruction: Analysis): string | null {
  const there = ownersOf(instruction);
  if (there.size === 0) return null;
  for (const [quality, owners] of ownersOf(pattern)) {
    const others = there.get(quality);
    if (others !== undefined && !owners.some((owner) => others.includes(owner))) return `"${quality}"`;
  }
  return null;
}

const owners = new WeakMap<Analysis, ReadonlyMap<string, readonly string[]>>();

/** The things that stand behind each quality, where it comes once. */
function ownersOf(analysis: Analysis): ReadonlyMap<string, readonly string[]> {
  const known = owners.get(analysis);
  if (known !== undefined) return known;
  const found = new Map<string, readonly string[]>();
  const { contents } = analysis;
  contents.forEach(({ key, run }, at) => {
    if (!isAdjective(key)) return;
    const things: string[] = [];
    for (let next = at + 1; contents[next]?.run === run; next++) {
      if (!isAdjective(contents[next]!.key)) things.push(contents[next]!.key);
    }
    // What comes twice cannot be told apart.
    if (things.length > 0) found.set(key, [...things, ...(found.get(key) ?? [])]);
  });
  owners.set(analysis, found);
  return found;
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
  // "refund it for late delivery"; two things that are compared are compared with each other.
  return (
    role === 'because' || (role === 'from' && GATHERING.has(action)) || (role === 'against' && action === 'compare')
  );
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
