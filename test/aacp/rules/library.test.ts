import { describe, expect, it } from 'vitest';
import { loadRules } from '../../../src/aacp/rules/index.js';
import { COMMUNITY, GOOD, rule } from './rule-sources.js';

describe('a library', () => {
  const library = loadRules(COMMUNITY);

  it('has each rule under its id, and none under other words', () => {
    for (const { id } of COMMUNITY) expect(library.get(id)?.id).toBe(id);
    for (const id of ['', 'constructor', '__proto__', 'toString']) expect(library.get(id)).toBeUndefined();
  });

  it('has a rule with the id "constructor" as any other', () => {
    expect(loadRules([rule({ id: 'constructor' })]).get('constructor')?.name).toBe(GOOD.name);
  });

  it('groups by domain and task, in upper or lower case', () => {
    expect(library.byDomain('legal').map(({ id }) => id)).toEqual([
      'legal-fetch-contracts-expiring',
      'legal-fetch-contracts-for-review',
    ]);
    expect(library.byTask('Build').map(({ id }) => id)).toEqual(['it-build-access-profile', 'it-build-ad-account']);
    expect(library.byDomain('__proto__')).toEqual([]);
    expect(library.byTask('constructor')).toEqual([]);
  });

  it('counts its rules', () => {
    expect(library.summary()).toEqual({
      rules: 14,
      withPhrases: 0,
      withWorkflow: 0,
      byDomain: { CS: 2, FIN: 2, HR: 2, IT: 2, LEGAL: 2, MKT: 2, SALES: 2 },
      byTask: { CALC: 9, FETCH: 3, BUILD: 2 },
    });
  });

  it('counts domains of any name', () => {
    const own = rule({ dom: '__PROTO__', packet: GOOD.packet.replace('FIN|', '__PROTO__|') });
    expect(Object.entries(loadRules([own]).summary().byDomain)).toEqual([['__PROTO__', 1]]);
  });
});

describe('the hash of a library', () => {
  const { hash } = loadRules(COMMUNITY);

  it('is 64 hexadecimal digits', () => {
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is the same for the same rules in any notation', () => {
    const shuffled = [...COMMUNITY].reverse().map((one) => Object.fromEntries(Object.entries(one).reverse()));
    expect(loadRules(JSON.stringify({ rules: shuffled, note: 'x' }, null, 2)).hash).toBe(hash);
    expect(loadRules(COMMUNITY.map((one) => ({ ...one, validated: true, phrases: [], workflow: null }))).hash).toBe(
      hash,
    );
  });

  it.each(['id', 'name', 'description', 'packet', 'tags', 'version', 'source', 'phrases', 'workflow'])(
    'changes with the %s of a rule',
    (member) => {
      const changes: Record<string, unknown> = {
        id: 'other',
        name: 'Other',
        description: 'Other',
        packet: `${GOOD.packet}|fmt:json`,
        tags: ['postings', 'ledger'],
        version: '2',
        source: 'other',
        phrases: ['get the ledger for {period}'],
        workflow: { encoder: 'E', method: 'm', args: { period: '{period}' } },
      };
      const other = loadRules([rule({ [member]: changes[member] })], { encodeStep: null });
      expect(other.rules).toHaveLength(1);
      expect(other.hash).not.toBe(loadRules([GOOD]).hash);
    },
  );

  it('is computed from the loaded rules, not from those that were left out', () => {
    expect(loadRules([GOOD, { id: 'broken' }]).hash).toBe(loadRules([GOOD]).hash);
  });
});
