/** Libraries of loaded rules. */

import { byCodeUnit } from '../../text/ascii.js';
import { sha256Hex } from '../../text/sha256.js';
import type { RuleReport } from './check-rule.js';
import { type Rule, sourceOf } from './rule.js';
import { createSearch, type Find } from './search.js';

/** A library of rules. */
export interface RuleLibrary {
  /** The valid rules, in the order of the source. */
  readonly rules: readonly Rule[];
  /** The errors and warnings about rules. */
  readonly reports: readonly RuleReport[];
  /** The SHA-256 of the rules as canonical JSON, as 64 hexadecimal digits. It does not depend on the formatting of the source. */
  readonly hash: string;
  /** Finds rules by a query. */
  readonly find: Find;
  /** Returns the rule with an id. */
  readonly get: (id: string) => Rule | undefined;
  /** Returns the rules of a domain. Upper or lower case. */
  readonly byDomain: (domain: string) => readonly Rule[];
  /** Returns the rules of a task. Upper or lower case. */
  readonly byTask: (task: string) => readonly Rule[];
  /** Counts the rules. */
  readonly summary: () => RuleSummary;
}

/** The numbers of rules of a library. */
export interface RuleSummary {
  /** The number of rules. */
  readonly rules: number;
  /** The number of rules with phrases, which fill in the dates, amounts and names of an instruction. */
  readonly withPhrases: number;
  /** The number of rules whose packet is made by a workflow step. */
  readonly withWorkflow: number;
  /** The number of rules of each domain, in the order of the source. The object has no prototype. */
  readonly byDomain: Readonly<Record<string, number>>;
  /** The number of rules of each task. The object has no prototype. */
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
    // Computed on demand, since it takes longer than loading.
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

/** Returns the SHA-256 of the rules as canonical JSON, ordered by id. */
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
