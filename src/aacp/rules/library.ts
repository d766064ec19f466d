/** Loaded rules, and ways to look them up. */

import { byCodeUnit } from '../../text/ascii.js';
import { sha256Hex } from '../../text/sha256.js';
import type { RuleReport } from './check-rule.js';
import { type Rule, sourceOf } from './rule.js';
import { createSearch, type Find } from './search.js';

export interface RuleLibrary {
  /** In the order of the source. Those with errors are not here. */
  readonly rules: readonly Rule[];
  readonly reports: readonly RuleReport[];
  /** SHA-256 over the rules as canonical JSON, 64 hexadecimal digits: the same rules, the same hash. */
  readonly hash: string;
  readonly find: Find;
  readonly get: (id: string) => Rule | undefined;
  /** In any case of letters. */
  readonly byDomain: (domain: string) => readonly Rule[];
  /** In any case of letters. */
  readonly byTask: (task: string) => readonly Rule[];
  readonly summary: () => RuleSummary;
}

export interface RuleSummary {
  readonly rules: number;
  /** Rules with phrases: they serve an instruction with its own dates, amounts and names. */
  readonly withPhrases: number;
  /** Rules whose packet a workflow's step makes. */
  readonly withWorkflow: number;
  /** Rules by domain, in the order in which they come. No prototype. */
  readonly byDomain: Readonly<Record<string, number>>;
  readonly byTask: Readonly<Record<string, number>>;
}

export function libraryOf(rules: readonly Rule[], reports: readonly RuleReport[]): RuleLibrary {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const byDomain = groups(rules, 'domain');
  const byTask = groups(rules, 'task');
  let hash: string | undefined;
  let find: Find | undefined;
  return Object.freeze({
    rules: Object.freeze([...rules]),
    reports: Object.freeze([...reports]),
    // Both take longer than loading, and not everybody asks.
    get hash() {
      hash ??= hashOfRules(rules);
      return hash;
    },
    find: (query, options) => {
      find ??= createSearch(rules);
      return find(query, options);
    },
    get: (id) => byId.get(id),
    byDomain: (domain) => byDomain.get(domain.toUpperCase()) ?? [],
    byTask: (task) => byTask.get(task.toUpperCase()) ?? [],
    summary: () => ({
      rules: rules.length,
      withPhrases: rules.filter(({ phrases }) => phrases.length > 0).length,
      withWorkflow: rules.filter(({ workflow }) => workflow !== null).length,
      byDomain: counts(byDomain),
      byTask: counts(byTask),
    }),
  } satisfies RuleLibrary);
}

function groups(rules: readonly Rule[], member: 'domain' | 'task'): ReadonlyMap<string, readonly Rule[]> {
  const found = new Map<string, Rule[]>();
  for (const rule of rules) {
    const key = rule[member].toUpperCase();
    const group = found.get(key);
    if (group === undefined) found.set(key, [rule]);
    else group.push(rule);
  }
  return found;
}

function counts(groups: ReadonlyMap<string, readonly Rule[]>): Readonly<Record<string, number>> {
  const counted: Record<string, number> = Object.create(null);
  for (const [key, group] of groups) counted[key] = group.length;
  return counted;
}

/** SHA-256 over the rules as canonical JSON, ordered by identifier: the same for the same rules, however their file is written. */
function hashOfRules(rules: readonly Rule[]): string {
  const ordered = [...rules].sort((a, b) => byCodeUnit(a.id, b.id));
  return sha256Hex(canonicalJson(ordered.map(sourceOf)));
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => byCodeUnit(a, b));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}
