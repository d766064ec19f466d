import { describe, expect, it } from 'vitest';
import { encodeStep } from '../../../src/aacp/encoders/index.js';
import { DOMAINS, parsePacket, TASKS, validatePacket } from '../../../src/aacp/index.js';
import { lintPacket } from '../../../src/aacp/lint/lint.js';
import { bundledRules, loadRules, type Rule, type RuleWorkflow, type SlotKind } from '../../../src/aacp/rules/index.js';

const library = bundledRules();

/** Texts for a slot, by its kind. */
const EXAMPLES: Readonly<Record<SlotKind, string>> = {
  period: '2026-08',
  quarter: '2026-Q3',
  date: '2026-08-31',
  id: 'A-4711',
  amount: '4200 GBP',
  name: 'Contoso',
  email: 'reader@example.org',
  list: 'red,green',
  number: '45',
  text: 'word',
};

/** The slots of a phrase, found independently of the library. */
function slotsOf(phrase: string): ReadonlyMap<string, SlotKind> {
  const found = [...phrase.matchAll(/\{(\w+)(?::(\w+))?\}/g)];
  return new Map(found.map(([, name, kind = name]) => [name!, kind as SlotKind]));
}

function fill(template: string, slots: ReadonlyMap<string, SlotKind>): string {
  return template.replace(/\{(\w+)(?:\.(\w+))?\}/g, (_, name: string, part?: string) => {
    const example = EXAMPLES[slots.get(name)!];
    if (part === undefined) return example;
    return example.split(' ')[part === 'value' ? 0 : 1]!;
  });
}

function inputsOf({ args }: RuleWorkflow, slots: ReadonlyMap<string, SlotKind>): Record<string, string | string[]> {
  const entries = Object.entries(args).map(([name, value]) => {
    const filled = fill(String(value), slots);
    return [
      name,
      slots.get(/^\{(\w+)\}$/.exec(String(value))?.[1] ?? '') === 'list' ? filled.split(',') : filled,
    ] as const;
  });
  return Object.fromEntries(entries);
}

const byId = (rules: readonly Rule[]): [string, Rule][] => rules.map((rule) => [rule.id, rule]);

describe('the bundled rules', () => {
  it('have no findings, including their steps', () => {
    const again = loadRules(library.rules.map(({ domain, ...rule }) => ({ ...rule, dom: domain })));
    expect(again.reports).toEqual([]);
    expect(again.rules).toEqual(library.rules);
    expect(library.reports).toEqual([]);
  });

  it('are the same library each time', () => {
    expect(bundledRules()).toBe(library);
  });

  it('cover every domain and every task', () => {
    const { byDomain, byTask, rules } = library.summary();
    expect(Object.keys(byDomain).sort()).toEqual(Object.keys(DOMAINS).sort());
    expect(Object.keys(byTask).sort()).toEqual(Object.keys(TASKS).sort());
    expect(rules).toBeGreaterThanOrEqual(60);
  });

  it('cover the patterns of the reference SDK with workflow steps', () => {
    const steps = Object.fromEntries(
      library.rules.map(({ id, workflow }) => [
        id,
        workflow === null ? null : `${workflow.encoder}.${workflow.method}`,
      ]),
    );
    expect(steps).toMatchObject({
      'hr-fetch-employee-salaries': 'PayrollEncoder.fetch_employees',
      'fin-fetch-budgets': 'PayrollEncoder.fetch_budgets',
      'fin-schedule-payment': 'InvoiceEncoder.schedule_payment',
      'legal-flag-clause': 'ContractEncoder.flag_clause',
      'it-create-account': 'JMLEncoder.create_account',
      'cs-resolve-complaint-with-empathy': 'CSResolutionEncoder.resolve_complaint',
      'hr-merge-payroll-by-rules': 'PayrollEncoder.merge_and_calculate',
      'hr-report-payroll': 'PayrollEncoder.generate_report',
    });
  });

  it.each(byId(library.rules))('%s has phrases whose slots are filled in', (_id, { phrases, packet }) => {
    expect(phrases.length).toBeGreaterThanOrEqual(2);
    expect(phrases.length).toBeLessThanOrEqual(5);
    expect(new Set(phrases).size).toBe(phrases.length);
    for (const phrase of phrases) {
      const filled = fill(packet, slotsOf(phrase));
      expect(filled).not.toMatch(/[{}]|undefined/);
      const { errors, warnings } = validatePacket(filled);
      expect([...errors, ...warnings]).toEqual([]);
      expect(filled.length).toBeLessThanOrEqual(200);
    }
  });

  it.each(byId(library.rules))('%s contains no secrets and no personal data', (_id, { phrases, packet }) => {
    expect(lintPacket(fill(packet, slotsOf(phrases[0]!)))).toEqual([]);
  });

  it.each(byId(library.rules))('%s is found by its name and by its phrases', (id, { name, domain, phrases }) => {
    for (const query of [name, ...phrases.map((phrase) => phrase.replace(/\{[^}]*\}/g, ' '))]) {
      expect(library.find(query, { domain }).map(({ rule }) => rule.id)).toContain(id);
    }
  });
});

describe('the packet of a step is the one in the rule', () => {
  const served = library.rules.filter(({ workflow }) => workflow !== null);

  it.each(byId(served))('%s', (_id, { workflow, phrases, packet }) => {
    for (const phrase of phrases) {
      const slots = slotsOf(phrase);
      const made = encodeStep(workflow!.encoder, workflow!.method, inputsOf(workflow!, slots));
      if (!('packet' in made)) throw new Error('several packets');
      expect(comparable(made.packet)).toEqual(comparable(fill(packet, slots)));
    }
  });

  /** Without the fields that the request sets. Steps write underscores for hyphens in subjects. */
  function comparable(text: string) {
    const { task, domain, fields } = parsePacket(text);
    const rest = fields.filter(({ key }) => key !== 'return' && key !== 'p');
    return {
      task,
      domain,
      fields: rest.map(({ key, value }) => [key, key === 'subj' ? value.replaceAll('-', '_') : value]),
    };
  }
});
