/** Tier 2: instructions compared with patterns (draft-mackay-aacp-01, section 6.3). */

import type { Rule } from '../rules/rule.js';
import { createEntryReader } from './entries.js';
import type { RegistryEntry } from './entry.js';
import { anchorAt } from './instruction/calendar.js';
import { judge, type Verdict } from './judge.js';
import type { Candidate, MatchRequest, MatchResult } from './match.js';
import type { EncodeStep } from './rule-values.js';
import { createRuleReader } from './rules.js';
import { readWording, SIGNATURES, termsOfWording, type Wording } from './wording.js';

/** Entries of a domain that share terms with an instruction, as a registry lists them. */
interface EntrySource {
  readonly candidates: (domain: string, terms: readonly string[], limit: number) => readonly RegistryEntry[];
}

export interface MatcherOptions {
  /** Instructions that are known beforehand. @default none */
  readonly rules?: readonly Rule[] | undefined;
  /** What was encoded before; `null` for nothing. */
  readonly registry: EntrySource | null;
  /** The score from which on a pattern serves, above 0 and up to 1. @default 0.75 */
  readonly threshold?: number | undefined;
  /** Makes the packets of rules that name a workflow step. Without it, these rules serve with their own packets. */
  readonly encodeStep?: EncodeStep | undefined;
}

interface Matcher {
  /**
   * The packet of a pattern with the same words, with the values of this instruction. Whatever the number of patterns, only those that
   * share words are compared.
   */
  readonly match: (request: MatchRequest) => MatchResult;
}

/** The default of `threshold`. Words have to be the same whatever it is; it bounds how much politeness may differ. */
const DEFAULT_THRESHOLD = 0.75;

/** Most entries of the registry that are compared for having the same words: some may have packets that cannot serve. */
const MOST_ALIKE = 64;
/** Most that are compared for having some of them. */
const MOST_NEAR = 8;
/** Most patterns that are reported, beside the one that serves. */
const MOST_REPORTED = 5;

/** @throws TypeError if an option is invalid */
export function createMatcher(options: MatcherOptions): Matcher {
  const { rules = [], registry, threshold = DEFAULT_THRESHOLD, encodeStep } = options;
  if (!(threshold > 0 && threshold <= 1)) throw new TypeError('threshold is a number above 0 and up to 1');
  if (!Array.isArray(rules)) throw new TypeError('rules is a list of rules');
  if (registry !== null && typeof registry?.candidates !== 'function') {
    throw new TypeError('registry is a registry, or null for none');
  }
  const readEntry = createEntryReader();
  const judgeRules = createRuleReader(rules, encodeStep);
  return {
    match(request) {
      const wording = readWording(request.instruction);
      if (wording === null) return { kind: 'none', candidates: [] };
      const verdicts = registry === null ? [] : judgeEntries(registry, request, wording);
      // Nothing can be better than an entry with the very same words.
      const last = verdicts.at(-1);
      if (last === undefined || !servesWholly(last)) verdicts.push(...judgeRules(request, wording, threshold));
      return resultOf(verdicts);
    },
  };

  function judgeEntries({ candidates }: EntrySource, request: MatchRequest, wording: Wording): Verdict[] {
    const verdicts: Verdict[] = [];
    const anchor = wording.unit === null ? null : anchorAt(wording.unit, request.now);
    const terms = termsOfWording(wording);
    const judged = new Set<string>();
    const signatures = terms.slice(0, SIGNATURES);
    // Entries that can serve have a signature in common, and most often the first one serves. Those that only come near are reported
    // where none does.
    for (const [asked, most] of [
      [signatures, 1],
      [signatures, MOST_ALIKE],
      [terms, MOST_NEAR],
    ] as const) {
      for (const entry of candidates(request.domain, asked, most)) {
        if (judged.has(entry.key)) continue;
        judged.add(entry.key);
        const pattern = readEntry(entry, request, anchor);
        if (pattern === null) continue;
        const verdict = judge(pattern, request, wording, threshold);
        verdicts.push(verdict);
        if (servesWholly(verdict)) return verdicts;
      }
      // The next one may have the same courtesies, too.
      if (most > 1 && verdicts.some(({ packet }) => packet !== null)) break;
    }
    return verdicts;
  }
}

function servesWholly({ packet, candidate }: Verdict): boolean {
  return packet !== null && candidate.score === 1;
}

function resultOf(verdicts: readonly Verdict[]): MatchResult {
  const ranked = [...verdicts].sort((a, b) => byRank(a.candidate, b.candidate));
  const best = ranked.find(({ packet }) => packet !== null);
  const candidates = ranked.map(({ candidate }) => candidate);
  if (best?.packet == null) return { kind: 'none', candidates: candidates.slice(0, MOST_REPORTED) };
  const others = candidates.filter((candidate) => candidate !== best.candidate);
  return { kind: 'match', packet: best.packet, candidate: best.candidate, others: others.slice(0, MOST_REPORTED) };
}

/** The higher score; among equals an entry before a rule, whose packet may say more; then by name. */
function byRank(one: Candidate, other: Candidate): number {
  const byScore = other.score - one.score;
  if (byScore !== 0) return byScore;
  const byKind = rankOf(one) - rankOf(other);
  return byKind === 0 ? compare(idOf(one), idOf(other)) : byKind;
}

function rankOf({ source }: Candidate): number {
  return source.kind === 'registry' ? 0 : 1;
}

function idOf({ source }: Candidate): string {
  return source.kind === 'rule' ? `${source.rule.id} ${source.phrase ?? ''}` : source.entry.key;
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
