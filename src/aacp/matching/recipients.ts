/** Who gets something, where no preposition says so: "send all employees the policy", "refund customer C-1 £40". */
import type { Part } from './parts.js';
import { actionNow, allOf, type Reader, setRole } from './reader.js';
import { isJoint } from './surroundings.js';

/** Actions that give something to somebody, who may stand right behind the verb. */
const DATIVE: ReadonlySet<string> = new Set(['send', 'grant', 'assign', 'pay', 'refund', 'offer', 'show', 'issue']);

/** Whether an action gives something to somebody. */
export function isDative(action: string): boolean {
  return DATIVE.has(action);
}

/** What stands between the verb and a place where a thing begins gets the thing. */
export function markRecipient(reader: Reader, parts: readonly Part[], at: number): void {
  const action = actionNow(reader);
  const before = parts[at - 1];
  // "in the Leeds office": no thing begins here.
  if (before?.kind === 'weak' || before?.kind === 'relation') return;
  if (action === undefined || !DATIVE.has(action) || !followsVerb(parts, at, action)) return;
  const current = reader.actions.length - 1;
  const given = allOf(reader).filter((one) => one.action === current);
  if (given.length === 0 || given.some(({ role }) => role !== '')) return;
  // "all employees in the Leeds office"
  const span = Math.min(...given.map((one) => one.span));
  const named = given.filter((one) => one.span === span);
  for (const one of named) one.role = 'to';
  if (named.some((one) => 'key' in one && !one.light)) reader.relations.push('to');
  setRole(reader, '');
}

/** Whether nothing but a thing, or a list of things, stands between a verb and a place. */
function followsVerb(parts: readonly Part[], at: number, action: string): boolean {
  for (let index = at - 1; index >= 0; index--) {
    const part = parts[index]!;
    if (part.kind === 'word' && part.action === action) return true;
    const isWithin = part.kind === 'weak' && /^(?:of|in|at)$/.test(part.text);
    if (part.kind !== 'stop' && part.kind !== 'word' && part.kind !== 'slot' && !isJoint(part) && !isWithin)
      return false;
  }
  return false;
}
