/** Rules as patterns, found by their words. The index is built when a matcher is made. */

import type { Rule } from '../rules/rule.js';
import type { Analysis } from './analysis.js';
import { tellingWords } from './bags.js';
import { resolveRelative } from './instruction/resolve.js';
import { judge, type Verdict, type Writing, withoutInventions } from './judge.js';
import type { MatchRequest } from './match.js';
import type { Pair } from './pairing.js';
import { type PhrasePattern, type Reading, readFor, readPhrasePattern, valuesOf } from './rule-phrases.js';
import { type EncodeStep, packetOfRule, SlotFault } from './rule-values.js';
import { judgeWordedRule, readWordedRule, type WordedRule } from './rule-words.js';

export type { EncodeStep } from './rule-values.js';

/** Most patterns that are looked at for one instruction. */
const MOST_RULES = 12;

type Entry =
  | { readonly kind: 'phrase'; readonly rule: Rule; readonly pattern: PhrasePattern }
  | { readonly kind: 'words'; readonly rule: Rule; readonly worded: WordedRule };

/** Judges the rules that share telling words with an instruction. */
export type RuleJudge = (request: MatchRequest, instruction: Analysis, threshold: number) => readonly Verdict[];

export function createRuleReader(rules: readonly Rule[], encodeStep: EncodeStep | undefined): RuleJudge {
  const entries = rules.flatMap(entriesOf);
  const index = new Map<string, number[]>();
  entries.forEach((entry, number) => {
    for (const word of new Set(wordsOf(entry))) {
      const name = `${entry.rule.domain} ${word}`;
      const list = index.get(name);
      if (list === undefined) index.set(name, [number]);
      else list.push(number);
    }
  });
  return (request, instruction, threshold) => {
    const resolved = withCalendar(instruction, request.now);
    return nearest(index, request.domain, resolved).map((number) =>
      judgeEntry(entries[number]!, request, resolved, threshold, encodeStep),
    );
  };
}

function entriesOf(rule: Rule): readonly Entry[] {
  if (rule.phrases.length === 0) {
    const worded = readWordedRule(rule);
    return worded === null ? [] : [{ kind: 'words', rule, worded }];
  }
  return rule.phrases.flatMap((phrase): readonly Entry[] => {
    const pattern = readPhrasePattern(phrase);
    return pattern === null ? [] : [{ kind: 'phrase', rule, pattern }];
  });
}

function wordsOf(entry: Entry): readonly string[] {
  return tellingWords(entry.kind === 'phrase' ? entry.pattern.analysis : entry.worded.name);
}

/** The patterns that share most of the instruction's telling words, rare ones counting more. */
function nearest(
  index: ReadonlyMap<string, readonly number[]>,
  domain: string,
  instruction: Analysis,
): readonly number[] {
  const weights = new Map<number, number>();
  for (const word of new Set(tellingWords(instruction))) {
    const list = index.get(`${domain} ${word}`) ?? [];
    for (const number of list) weights.set(number, (weights.get(number) ?? 0) + 1 / list.length);
  }
  return [...weights]
    .sort(([a, weightA], [b, weightB]) => weightB - weightA || a - b)
    .slice(0, MOST_RULES)
    .map(([number]) => number);
}

function judgeEntry(
  entry: Entry,
  request: MatchRequest,
  instruction: Analysis,
  threshold: number,
  encodeStep: EncodeStep | undefined,
): Verdict {
  if (entry.kind === 'words') return judgeWordedRule(entry.worded, request, instruction, threshold);
  const { rule, pattern } = entry;
  const reading = readFor(pattern, request.instruction, instruction);
  const verdict = judge(
    {
      source: { kind: 'rule', rule, phrase: pattern.phrase },
      domain: rule.domain,
      analysis: pattern.analysis,
      anyId: true,
      write: (pairs) => withoutInventions(writtenBy(rule, pattern, reading, pairs, encodeStep), request.instruction),
    },
    request,
    withCalendar(reading?.analysis ?? instruction, request.now),
    threshold,
  );
  const { candidate } = verdict;
  const { named } = pattern;
  return {
    ...verdict,
    candidate: {
      ...candidate,
      shared: candidate.shared.map(named),
      extra: candidate.extra.map(named),
      missing: candidate.missing.map(named),
      reason: named(candidate.reason),
    },
  };
}

function writtenBy(
  rule: Rule,
  pattern: PhrasePattern,
  reading: Reading | null,
  pairs: readonly Pair[],
  encodeStep: EncodeStep | undefined,
): Writing {
  if (reading === null)
    return { refusal: 'slot-missing', reason: 'the words that a slot of the phrase stands between are not there' };
  const { values, other } = valuesOf(pattern, pairs);
  if (other !== null) {
    return {
      refusal: 'slot-unplaced',
      reason: `it says "${other.given.text}", and the rule is for "${other.stored.text}"`,
    };
  }
  try {
    const packet = packetOfRule(rule, { slots: values, captured: reading.captured }, encodeStep);
    const words = reading.captured.map(({ name, text }) => [name, text] as const);
    const slots = Object.fromEntries([...[...values].map(([name, { text }]) => [name, text] as const), ...words]);
    return { packet, slots, refusal: null };
  } catch (thrown) {
    if (thrown instanceof SlotFault) return { refusal: thrown.refusal, reason: thrown.message };
    // Encoders of others may throw anything.
    const why = thrown instanceof Error ? thrown.message.replace(/\.$/, '') : 'the step fails';
    return { refusal: 'invalid-packet', reason: why };
  }
}

/** The same, with days and months in place of "today" and "last month". */
function withCalendar(analysis: Analysis, now: number): Analysis {
  if (!analysis.slots.some(({ slot }) => slot.kind === 'relative')) return analysis;
  const slots = analysis.slots.map((use) => ({ ...use, slot: resolveRelative(use.slot, now) ?? use.slot }));
  return { ...analysis, slots };
}
