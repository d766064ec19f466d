import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validatePacket } from '../../../src/aacp/index.js';
import { loadRules, RulesError } from '../../../src/aacp/rules/index.js';
import { runs } from '../../helpers/runs.js';
import { GOOD, rule } from './rule-sources.js';

const PLAIN = 'FETCH|FIN|return:FIN-Agent|p:2|aacp:1.1|res:ledger';

describe('an invalid library', () => {
  it.each(['', '{', 'rules', 'null', '7', '"[]"', '{"rule":[]}', '{"rules":{}}', '{"__proto__":{"rules":[]}}'])(
    'is rejected: %s',
    (text) => {
      expect(() => loadRules(text)).toThrow(RulesError);
    },
  );

  it.each([undefined, null, 7, Symbol('x'), () => [], 7n, {}, new Map([['rules', []]])])('is rejected: %o', (value) => {
    expect(() => loadRules(value)).toThrow(expect.objectContaining({ code: 'bad-rules' }));
  });

  it('is rejected if the data is circular or throws when it is read', () => {
    const circle: unknown[] = [];
    circle.push(circle);
    const trap = {
      get rules() {
        throw new Error('no');
      },
    };
    for (const value of [circle, trap]) {
      expect(() => loadRules(value)).toThrow(expect.objectContaining({ code: 'bad-rules' }));
    }
  });

  it('an empty list is an empty library', () => {
    const library = loadRules('[]');
    expect([library.rules, library.reports, library.find('ledger')]).toEqual([[], [], []]);
  });
});

/** Data that often resembles a rule. */
const ruleLike = fc.oneof(
  fc.jsonValue(),
  fc
    .record(
      {
        id: fc.oneof(fc.constantFrom('a', 'b', 'constructor', '__proto__'), fc.string()),
        name: fc.string(),
        description: fc.string(),
        task: fc.constantFrom('FETCH', 'SEND', '{id}', ''),
        dom: fc.constantFrom('FIN', 'HR', '{name}'),
        packet: fc.oneof(
          fc.string({ unit: fc.constantFrom('|', '{', '}', 'id', ':', 'period', '.value', 'x', 'return', '\n') }),
          fc.constantFrom(PLAIN, GOOD.packet, `${PLAIN}|amt:{amount.value}|ccy:{amount.currency}`),
        ),
        tags: fc.array(fc.string(), { maxLength: 3 }),
        version: fc.string(),
        source: fc.string(),
        phrases: fc.array(
          fc.string({ unit: fc.constantFrom('fetch ', 'the ', '{', '}', '{id}', '{period}', '{amount}', ':', 'name') }),
          { maxLength: 3 },
        ),
        workflow: fc.oneof(
          fc.constant(null),
          fc.record({ encoder: fc.string(), method: fc.string(), args: fc.dictionary(fc.string(), fc.string()) }),
        ),
      },
      { requiredKeys: [] },
    )
    .map((changes) => rule(changes)),
);

describe('for any data', () => {
  it('a JSON document gives a library or a RulesError', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.array(ruleLike).map((list) => JSON.stringify(list)),
        ),
        (text) => {
          try {
            loadRules(text, { encodeStep: () => ({ packet: '', task: 'FETCH', domain: 'FIN' }) });
          } catch (error) {
            expect(error).toBeInstanceOf(RulesError);
          }
        },
      ),
      runs(300),
    );
  });

  it('every entry is either a rule or reported as an error', () => {
    fc.assert(
      fc.property(fc.array(ruleLike, { maxLength: 6 }), (entries) => {
        const { rules, reports } = loadRules(entries);
        const failed = new Set(reports.filter(({ severity }) => severity === 'error').map(({ index }) => index));
        expect(rules.length + failed.size).toBe(entries.length);
        for (const { packet, phrases } of rules) {
          if (phrases.length === 0) expect(validatePacket(packet).valid).toBe(true);
        }
      }),
      runs(300),
    );
  });
});
