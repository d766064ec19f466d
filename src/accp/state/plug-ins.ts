/** Checks of what a host's own extractor and summarizer answer. */
import type { Fact, FactValue } from './facts/fact.js';

/** More facts than an entry of warm state ever holds. */
const MAX_FACTS = 1000;

/**
 * Facts without anything else.
 *
 * @throws TypeError on what is no list of facts
 */
export function checkFacts(answer: unknown): Fact[] {
  if (!Array.isArray(answer)) throw new TypeError('the answer is no list of facts');
  return answer.slice(0, MAX_FACTS).map((given: unknown, index) => {
    const { entity, relation, value } = (given ?? {}) as Readonly<Record<string, unknown>>;
    if (isName(entity) && isName(relation) && isValue(value)) return { entity, relation, value };
    throw new TypeError(`item ${index} has no entity, relation and value`);
  });
}

/** @throws TypeError on what is no text */
export function checkSummary(answer: unknown): string {
  if (typeof answer !== 'string' || answer.trim() === '') throw new TypeError('the answer is no text');
  return answer;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isValue(value: unknown): value is FactValue {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean';
}
