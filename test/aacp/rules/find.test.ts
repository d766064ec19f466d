import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bundledRules, type FindOptions, loadRules } from '../../../src/aacp/rules/index.js';
import { runs } from '../../helpers/runs.js';
import { COMMUNITY, rule } from './rule-sources.js';

const LIBRARIES = { community: loadRules(COMMUNITY), bundled: bundledRules() } as const;

/** The rules that must be the first results of a query; none if the result must be empty. */
const CASES: readonly (readonly [keyof typeof LIBRARIES, string, readonly string[], FindOptions])[] = [
  ['community', 'campaign roi', ['mkt-calc-campaign-roi'], {}],
  ['community', 'customer profile', ['cs-fetch-customer-profile'], {}],
  ['community', 'contracts that are expiring', ['legal-fetch-contracts-expiring'], {}],
  ['community', 'expiry of a contract', ['legal-fetch-contracts-expiring'], {}],
  ['community', 'net-pay', ['hr-calc-net-pay'], {}],
  ['community', 'net pay', ['hr-calc-net-pay'], {}],
  ['community', 'month end accruals', ['fin-calc-accruals'], {}],
  ['community', 'variance', ['fin-calc-budget-variance', 'hr-calc-headcount-variance'], {}],
  ['community', 'variance', ['hr-calc-headcount-variance'], { domain: 'hr' }],
  ['community', 'contracts', ['legal-fetch-contracts-expiring', 'legal-fetch-contracts-for-review'], { task: 'fetch' }],
  ['community', 'contracts', [], { task: 'CALC' }],
  ['community', 'contracts', [], { domain: 'constructor' }],
  ['community', 'zebra', [], {}],
  ['community', 'for', [], {}],
  ['community', 'delete all customer records', [], {}],
  ['community', 'please send a birthday card for my dog', [], {}],
  ['community', 'customer complaint upset', [], {}],
  ['bundled', 'three-way-match', ['fin-match-invoice'], {}],
  ['bundled', 'three way match', ['fin-match-invoice'], {}],
  ['bundled', 'lead score', ['sales-score-lead-bant', 'sales-score-lead-meddic'], {}],
  ['bundled', 'lead score', ['sales-score-lead-bant', 'sales-score-lead-meddic'], { domain: 'SALES', task: 'CALC' }],
  ['bundled', 'nda clause', ['legal-flag-clause'], { domain: 'legal' }],
  ['bundled', 'new hire onboarding', ['hr-fetch-new-hire', 'hr-send-welcome'], { domain: 'HR' }],
  ['bundled', 'trial balance month end', ['fin-fetch-trial-balance'], { domain: 'FIN', task: 'FETCH' }],
  ['bundled', 'customer complaint upset', ['cs-resolve-complaint-with-empathy'], {}],
  ['bundled', 'dsar gdpr request', ['legal-process-access-request'], {}],
  ['bundled', 'ab test winner', ['mkt-apply-test-winner'], { domain: 'MKT' }],
  ['bundled', 'VAT return submit', ['fin-calculate-vat'], {}],
  ['bundled', 'Fetch employees!!!', ['hr-fetch-employee-salaries'], { domain: 'HR', task: 'fetch' }],
  ['bundled', 'campaign roi', ['mkt-calculate-campaign-roi'], { domain: 'MKT' }],
  ['bundled', 'retrieving the salaries of our employees', ['hr-fetch-employee-salaries'], {}],
  ['bundled', 'revoke access', ['it-revoke-access'], {}],
  ['bundled', 'delete all customer records', [], {}],
  ['bundled', 'remove the trial balance', [], {}],
  ['bundled', 'approve payment', [], {}],
  ['bundled', 'please send a birthday card for my dog', [], {}],
  ['bundled', 'what is the weather like today', [], {}],
  ['bundled', 'for', [], {}],
  ['bundled', '', [], {}],
  ['bundled', '|to:attacker', [], {}],
  ['bundled', 'constructor __proto__ toString', [], {}],
];

describe('search', () => {
  it.each(CASES)('in the %s rules for %j finds %j', (name, query, wanted, options) => {
    const found = LIBRARIES[name].find(query, options).map(({ rule: { id } }) => id);
    expect(found.slice(0, Math.max(1, wanted.length))).toEqual(wanted);
  });

  it('reports which words of the query a rule has', () => {
    const [first] = LIBRARIES.bundled.find('Salaries of zebras, and of Employees');
    expect(first).toMatchObject({ rule: { id: 'hr-fetch-employee-salaries' }, matched: ['salaries', 'employees'] });
  });

  it('scores a rule with the whole query above one with a part of it', () => {
    const found = LIBRARIES.bundled.find('customer complaint upset');
    expect(found[0]?.score).toBe(1);
    expect(found[1]?.score).toBeLessThan(1);
  });

  it('distinguishes rules by the whole of a hyphenated word', () => {
    const library = loadRules([rule({ id: 'in', tags: ['opt-in'] }), rule({ id: 'out', tags: ['opt-out'] })]);
    expect(library.find('opt-in')[0]?.rule.id).toBe('in');
    expect(library.find('opt-out')[0]?.rule.id).toBe('out');
  });

  it('sorts rules with equal scores by their ids', () => {
    const ids = ['c', 'a', 'b'];
    const library = loadRules(ids.map((id) => rule({ id, phrases: [`fetch the ledger number ${id} for {period}`] })));
    expect(library.find('ledger').map(({ rule: { id } }) => id)).toEqual(['a', 'b', 'c']);
  });

  it('finds at most the requested number of rules', () => {
    expect(LIBRARIES.bundled.find('invoice')).toHaveLength(
      Math.min(10, LIBRARIES.bundled.find('invoice', { limit: 99 }).length),
    );
    expect(LIBRARIES.bundled.find('invoice', { limit: 2 })).toHaveLength(2);
  });

  it('finds fewer rules with a higher minScore, and all rules with a word at 0', () => {
    const query = 'quarterly invoice zebra';
    const counts = [0, 0.3, 0.6, 1].map((minScore) => LIBRARIES.bundled.find(query, { minScore, limit: 100 }).length);
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    expect(counts[0]).toBeGreaterThan(10);
    expect(counts[3]).toBe(0);
  });

  it.each([
    ['query', 7, {}],
    ['domain', 'x', { domain: 7 }],
    ['task', 'x', { task: null }],
    ['minScore', 'x', { minScore: 2 }],
    ['minScore', 'x', { minScore: Number.NaN }],
    ['limit', 'x', { limit: 0 }],
    ['limit', 'x', { limit: 1.5 }],
  ])('reports the position of an invalid value: %s', (name, query, options) => {
    expect(() => LIBRARIES.bundled.find(query as string, options as FindOptions)).toThrow(new RegExp(`^${name} `));
  });

  it('accepts any text, and returns the same result each time', () => {
    const words = fc.constantFrom(
      'invoice',
      'Fetch',
      'three-way-match',
      'the',
      '-',
      '_',
      '|',
      '\ud800',
      'É',
      '\u0000',
      '9',
    );
    const query = fc.oneof(
      fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes)),
      fc.array(words).map((list) => list.join(' ')),
    );
    fc.assert(
      fc.property(query, (text) => {
        const found = LIBRARIES.bundled.find(text);
        const scores = found.map(({ score }) => score);
        expect(scores).toEqual(scores.filter((score) => score >= 0.4 && score <= 1).sort((a, b) => b - a));
        expect(LIBRARIES.bundled.find(text).map(({ rule: { id } }) => id)).toEqual(found.map(({ rule: { id } }) => id));
        const lower = text.toLowerCase();
        expect(found.every(({ matched }) => matched.length > 0 && matched.every((word) => lower.includes(word)))).toBe(
          true,
        );
      }),
      runs(200),
    );
  });

  it('accepts a text of any length', () => {
    for (const text of [
      'a'.repeat(1_000_000),
      'a-'.repeat(500_000),
      'invoice '.repeat(100_000),
      'yy'.repeat(500_000),
    ]) {
      expect(() => LIBRARIES.bundled.find(text)).not.toThrow();
    }
  });
});
