/** Who gets something, where no preposition says so: "send all employees the policy", "refund customer C-1 £40". */
import type { Part } from './parts.js';
import { actionNow, allOf, type Reader, setRole } from './reader.js';
import { isJoint } from './surroundings.js';

/** Actions that give something to somebody, who may stand right behind the verb. */
const DATIVE: ReadonlySet<string> = new Set(['send', 'grant', 'assign', 'pay', 'refund', 'offer', 'show', 'issue']);

/** What stands between the verb and a place where a thing begins gets the thing. */
export function markRecipient(reader: Reader, parts: readonly Part[], at: number): void {
  const action = actionNow(reader);
  if (action === undefined || !DATIVE.has(action) || !followsVerb(parts, at, action)) return;
  const current = reader.actions.length - 1;
  const given = allOf(reader).filter((one) => one.action === current);
  if (given.length === 0 || given.some(({ role }) => role !== '')) return;
  for (const one of given) one.role = 'to';
  if (given.some((one) => 'key' in one && !one.light)) reader.relations.push('to');
  setRole(reader, '');
}

/** Whether nothing but a thing, or a list of things, stands between a verb and a place. */
function followsVerb(parts: readonly Part[], at: number, action: string): boolean {
  for (let index = at - 1; index >= 0; index--) {
    const part = parts[index]!;
    if (part.kind === 'word' && part.action === action) return true;
    if (part.kind !== 'stop' && part.kind !== 'word' && part.kind !== 'slot' && !isJoint(part)) return false;
  }
  return false;
}
