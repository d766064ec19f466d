/** Step 2 of a checkpoint: the key facts of its messages (draft-benzing-accp-00, section 5.3). */
import type { Json, JsonObject } from '../../message/json.js';
import { Reference } from '../../message/reference.js';
import type { Fact, FactSource, WeighedFact } from './fact.js';
import { factsOf } from './frame-facts.js';

/** More facts than any summary holds. */
const MAX_FACTS = 1000;
/** How much more the last message matters than the first, all else equal. */
const RECENCY = 1;

/**
 * The facts of messages, the most important first. The same messages always give the same facts, and every value of a fact
 * stands in one of them. A later value of a relation replaces an earlier one; the items of a list stand side by side.
 *
 * @param resolve gives the value of a reference, or the reference itself where there is none
 */
export function extractFacts(
  messages: readonly FactSource[],
  resolve: (reference: Reference) => Json = (reference) => reference,
): Fact[] {
  const facts = new Map<string, WeighedFact>();
  messages.forEach((message, index) => {
    const later = (RECENCY * (index + 1)) / messages.length;
    for (const fact of factsOf({ ...message, payload: resolved(message.payload, resolve) })) {
      if (facts.size >= MAX_FACTS) return;
      const own = fact.among ? `${typeof fact.value}:${fact.value}` : '';
      const key = JSON.stringify([fact.entity, fact.relation, own]);
      const known = facts.get(key);
      const weight = fact.weight + later;
      // What a schema filled in replaces nothing that was said.
      if (known !== undefined && fact.weight <= 0) continue;
      facts.set(key, { ...fact, weight: Math.max(weight, known?.weight ?? 0) });
    }
  });
  return [...facts.values()]
    .sort((a, b) => b.weight - a.weight)
    .map(({ entity, relation, value }) => ({ entity, relation, value }));
}

/** A payload with the values of its parameters in place of references; what stands deeper is a detail. */
function resolved(payload: JsonObject, resolve: (reference: Reference) => Json): JsonObject {
  if (!Object.values(payload).some((value) => value instanceof Reference)) return payload;
  const made: Record<string, Json> = Object.create(null);
  for (const [key, value] of Object.entries(payload)) made[key] = value instanceof Reference ? resolve(value) : value;
  return made;
}
