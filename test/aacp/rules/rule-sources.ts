/** Rules for tests. */
import type { RuleSource } from '../../../src/aacp/rules/index.js';
import { readJson } from '../../conformance/fixtures.js';

/** A valid rule. */
export const GOOD: RuleSource = {
  id: 'fin-fetch-ledger',
  name: 'Fetch the ledger',
  description: 'All postings of a month.',
  task: 'FETCH',
  dom: 'FIN',
  packet: 'FETCH|FIN|return:FIN-Agent|p:2|aacp:1.1|res:ledger|period:{period}',
  tags: ['ledger', 'postings'],
  version: '1.0',
  source: 'test',
  phrases: ['fetch the ledger for {period}'],
};

/** The rule above, with other members. */
export function rule(changes: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return { ...GOOD, ...changes };
}

/** Fourteen rules of the public library. */
export const COMMUNITY: readonly RuleSource[] = (
  readJson('aacp/community-rules.json') as { readonly cases: readonly RuleSource[] }
).cases;
