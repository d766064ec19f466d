/** Tier 2: instructions compared with patterns (draft-mackay-aacp-01, section 6.3). */

import { byCodeUnit } from '../../text/ascii.js';
import type { Rule } from '../rules/rule.js';
import { createEntryReader } from './entries.js';
import type { RegistryEntry } from './entry.js';
import { anchorAt } from './instruction/calendar.js';
import { judge, type Verdict } from './judge.js';
import type { Candidate, MatchRequest, MatchResult } from './match.js';
import type { EncodeStep } from './rule-values.js';
import { createRuleReader } from './rules.js';
import { readWording, SIGNATURES, termsOfWording, type Wording } from './wording.js';

/** The part of a registry that the matcher uses. */
interface EntrySource {
  readonly candidates: (domain: string, terms: readonly string[], limit: number) => readonly RegistryEntry[];
}

export interface MatcherOptions {
  readonly rules?: readonly Rule[] | undefined;
  /** `null` for none. */
  readonly registry: EntrySource | null;
  /** The least score of a pattern that serves, above 0 and up to 1. @default 0.75 */
  readonly threshold?: number | undefined;
  /** Makes the packets of rules that name a workflow step. Without it, these rules serve with their own packets. */
  readonly encodeStep?: EncodeStep | undefined;
}

/** Most entries with the same words that are compared: some may have packets that cannot serve. */
const MOST_ALIKE = 64;
/** Most entries with some of the words that are compared. */
const MOST_NEAR = 8;
const MOST_REPORTED = 5;

/** The caller has checked the options. */
export function createMatcher(options: MatcherOptions) {
  const { rules = [], registry, threshold = 0.75, encodeStep } = options;
  const readEntry = createEntryReader();
  const judgeRules = createRuleReader(rules, encodeStep);
  return {
    /** Finds a pattern with the same words, and fills in the values. Compares only patterns that share words, however many there are. */
    match(request: MatchRequest): MatchResult {
      const wording = readWording(request.instruction);
      if (wording === null) return { kind: 'none', candidates: [] };
      const verdicts = registry === null ? [] : judgeEntries(registry, request, wording);
      // No rule is better than an entry with the very same words.
      if (!verdicts.some(servesWholly)) verdicts.push(...judgeRules(request, wording, threshold));
      return resultOf(verdicts);
    },
  };

  function judgeEntries({ candidates }: EntrySource, request: MatchRequest, wording: Wording): Verdict[] {
    const verdicts: Verdict[] = [];
    const anchor = wording.unit === null ? null : anchorAt(wording.unit, request.now);
    const terms = termsOfWording(wording);
    const judged = new Set<string>();
    const signatures = terms.slice(0, SIGNATURES);
    // Entries that can serve share a signature, and most often the first one serves. Those that come near are for the report.
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
      // After a single entry: the next one may have the same courtesies, too.
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

/** By score, entries before rules, whose packets may say more, and then by name. */
function byRank(one: Candidate, other: Candidate): number {
  const byKind = Number(one.source.kind === 'rule') - Number(other.source.kind === 'rule');
  return other.score - one.score || byKind || byCodeUnit(idOf(one), idOf(other));
}

function idOf({ source }: Candidate): string {
  return source.kind === 'rule' ? `${source.rule.id} ${source.phrase ?? ''}` : source.entry.key;
}
