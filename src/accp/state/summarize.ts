/** Step 3 of a checkpoint, where the host has no summarizer of its own: the key facts in short sentences. */
import type { TokenCounter } from '../../tokens/counter.js';
import { cutToTokens } from './cut.js';
import type { Fact } from './facts/fact.js';

/** One entity, and what is told of it. */
interface Told {
  readonly entity: string;
  readonly phrases: string[];
}

/**
 * A sentence an entity: `txn_001: amount 142.5, status settled. impl_auth assignee dev.` The most important facts that fit
 * into `max` tokens, which are told in the order in which they come.
 *
 * @param facts the most important first
 */
export function summarizeFacts(facts: readonly Fact[], max: number, counter: TokenCounter): string {
  const told = new Map<string, Told>();
  let tokens = 0;
  for (const fact of facts) {
    if (tokens >= max) break;
    const known = told.get(fact.entity);
    const phrase = phraseOf(fact);
    const cost = counter.count(` ${phrase},`) + (known === undefined ? counter.count(` ${fact.entity}:`) : 0);
    // A shorter one may still fit.
    if (tokens + cost > max) continue;
    tokens += cost;
    if (known === undefined) told.set(fact.entity, { entity: fact.entity, phrases: [phrase] });
    else known.phrases.push(phrase);
  }
  const sentences = [...told.values()].map(({ entity, phrases }) => {
    return phrases.length === 1 ? `${entity} ${phrases[0]!}.` : `${entity}: ${phrases.join(', ')}.`;
  });
  return cutToTokens(sentences.join(' '), max, counter);
}

function phraseOf({ relation, value }: Fact): string {
  return relation === 'is' || relation === 'says' ? String(value) : `${relation} ${value}`;
}
