/** Tier 2: compares instructions with patterns (draft-mackay-aacp-01, section 6.3). */

import { byCodeUnit } from '../../text/ascii.js';
import type { Rule } from '../rules/rule.js';
import { createEntryReader } from './entries.js';
import type { RegistryEntry } from './entry.js';
import { anchorAt } from './instruction/calendar.js';
import type { Candidate, MatchRequest, MatchResult } from './match.js';
import { matchPattern, type PatternResult } from './match-pattern.js';
import type { EncodeStep } from './rule-values.js';
import { createRuleReader } from './rules.js';
import { readWording, SIGNATURE_COUNT, termsOfWording, type Wording } from './wording.js';

/** The part of a registry that the matcher uses. */
interface EntrySource {
  readonly candidates: (domain: string, terms: readonly string[], limit: number) => readonly RegistryEntry[];
}

export interface MatcherOptions {
  readonly rules?: readonly Rule[] | undefined;
  /** The registry; `null` for none. */
  readonly registry: EntrySource | null;
  /** The minimum score of a pattern that matches, above 0 and at most 1. @default 0.75 */
  readonly threshold?: number | undefined;
  /** Encodes the packets of rules that name a workflow step. @default none: these rules use their own packets */
  readonly encodeStep?: EncodeStep | undefined;
}

/** The maximum number of entries with the same words that are compared: the packets of some may not be usable. */
const MAX_SAME_WORDS = 64;
/** The maximum number of entries with some of the words that are compared. */
const MAX_SIMILAR = 8;
const MAX_REPORTED = 5;

/** Creates a matcher. The caller has checked the options. */
export function createMatcher(options: MatcherOptions) {
  const { rules = [], registry, threshold = 0.75, encodeStep } = options;
  const readEntry = createEntryReader();
  const matchRules = createRuleReader(rules, encodeStep);
  return {
    /** Finds a pattern with the same words, and fills in the values. Compares only patterns that share words. */
    match(request: MatchRequest): MatchResult {
      const wording = readWording(request.instruction);
      if (wording === null) return { kind: 'none', candidates: [] };
      const results = registry === null ? [] : matchEntries(registry, request, wording);
      // No rule is better than an entry with exactly the same words.
      if (!results.some(isExact)) results.push(...matchRules(request, wording, threshold));
      return resultOf(results);
    },
  };

  function matchEntries({ candidates }: EntrySource, request: MatchRequest, wording: Wording): PatternResult[] {
    const results: PatternResult[] = [];
    const anchor = wording.unit === null ? null : anchorAt(wording.unit, request.now);
    const terms = termsOfWording(wording);
    const compared = new Set<string>();
    const signatures = terms.slice(0, SIGNATURE_COUNT);
    // Entries that can match share a signature, and most often the first one matches. Similar ones are compared for the explanation only.
    for (const [searched, limit] of [
      [signatures, 1],
      [signatures, MAX_SAME_WORDS],
      [terms, MAX_SIMILAR],
    ] as const) {
      for (const entry of candidates(request.domain, searched, limit)) {
        if (compared.has(entry.key)) continue;
        compared.add(entry.key);
        const pattern = readEntry(entry, request, anchor);
        if (pattern === null) continue;
        const result = matchPattern(pattern, request, wording, threshold);
        results.push(result);
        if (isExact(result)) return results;
      }
      // Stops after one entry; but the next one may have the same polite phrases, too.
      if (limit > 1 && results.some(({ packet }) => packet !== null)) break;
    }
    return results;
  }
}

function isExact({ packet, candidate }: PatternResult): boolean {
  return packet !== null && candidate.score === 1;
}

function resultOf(results: readonly PatternResult[]): MatchResult {
  const ranked = [...results].sort((a, b) => byRank(a.candidate, b.candidate));
  const best = ranked.find(({ packet }) => packet !== null);
  const candidates = ranked.map(({ candidate }) => candidate);
  if (best?.packet == null) return { kind: 'none', candidates: candidates.slice(0, MAX_REPORTED) };
  const others = candidates.filter((candidate) => candidate !== best.candidate);
  return { kind: 'match', packet: best.packet, candidate: best.candidate, others: others.slice(0, MAX_REPORTED) };
}

/** Orders candidates by score, entries before rules, whose packets may contain more, and then by name. */
function byRank(one: Candidate, other: Candidate): number {
  const byKind = Number(one.source.kind === 'rule') - Number(other.source.kind === 'rule');
  return other.score - one.score || byKind || byCodeUnit(idOf(one), idOf(other));
}

function idOf({ source }: Candidate): string {
  return source.kind === 'rule' ? `${source.rule.id} ${source.phrase ?? ''}` : source.entry.key;
}
