/** Rules without phrases: what their names, descriptions and tags say. */
import { parsePacket, tryParsePacket } from '../parse.js';
import type { Rule } from '../rules/rule.js';
import { TASKS } from '../vocabulary.js';
import { analyse } from './analyse.js';
import type { Analysis } from './analysis.js';
import { overlapOf, tellingWords } from './bags.js';
import { beyondPlain } from './guards.js';
import { faultOf, refused, served, type Verdict, withoutInventions } from './judge.js';
import { beyondOrder } from './marks.js';
import type { MatchRequest, PatternSource } from './match.js';
import { findPlaces } from './places.js';

/** A rule, with the words that it is told by. */
export interface WordedRule {
  readonly rule: Rule;
  readonly name: Analysis;
  /** All words that it has anywhere, values left out. */
  readonly words: ReadonlySet<string>;
}

/** What a TASK asks for, where the name of a rule does not begin with a verb. */
const ACTIONS: ReadonlyMap<string, string> = new Map([
  ...Object.keys(TASKS).map((task) => [task, task.toLowerCase()] as const),
  ['PROC', 'process'],
  ['BUILD', 'create'],
  ['CALC', 'calculate'],
  ['ACK', 'acknowledge'],
]);

/** @returns `null` for a rule whose name says nothing, or whose packet cannot be read */
export function readWordedRule(rule: Rule): WordedRule | null {
  const name = analyse(rule.name);
  if (name === null || !tryParsePacket(rule.packet).ok) return null;
  const action = name.actions.length > 0 ? name.actions : [ACTIONS.get(rule.task) ?? rule.task.toLowerCase()];
  const texts = [rule.name, rule.description, ...rule.tags];
  const words = texts.flatMap((text) => {
    const analysis = analyse(text);
    return analysis === null ? [] : tellingWords({ ...analysis, actions: [], slots: [] });
  });
  return { rule, name: { ...name, actions: action }, words: new Set(words) };
}

/** A word that says little, against one that tells something. */
const LIGHT = 0.15;

/** The weight of the instruction's words that the rule has somewhere, of all its words. */
function coverageOf({ actions, contents }: Analysis, words: ReadonlySet<string>): number {
  let covered = actions.length;
  let all = actions.length;
  for (const { key, light } of contents) {
    const weight = light ? LIGHT : 1;
    all += weight;
    if (words.has(key)) covered += weight;
  }
  return all === 0 ? 0 : covered / all;
}

/**
 * Such a rule serves an instruction that says nothing which the rule does not say, that has all telling words of its name,
 * and of which the packet shows every value.
 */
export function judgeWordedRule(
  { rule, name, words }: WordedRule,
  request: MatchRequest,
  instruction: Analysis,
  threshold: number,
): Verdict {
  const source: PatternSource = { kind: 'rule', rule, phrase: null };
  const overlap = { ...overlapOf(name, instruction), score: coverageOf(instruction, words) };
  const fault = faultOf({ domain: rule.domain, analysis: name }, request, instruction, overlap);
  if (fault !== null) return refused({ source }, overlap, fault);
  const packet = parsePacket(rule.packet);
  const slots = instruction.slots.map(({ slot }) => slot);
  const places = findPlaces(packet, slots, request.now);
  const unshown = slots.find((slot) => !places.some((place) => place.slot === slot));
  if (unshown !== undefined) {
    return refused({ source }, overlap, {
      refusal: 'slot-unplaced',
      reason: `the packet does not show "${unshown.text}"`,
    });
  }
  const own = tellingWords({ ...instruction, actions: [], slots: [] });
  const unsaid = own.find((word) => !words.has(word));
  if (unsaid !== undefined) {
    return refused({ source }, overlap, {
      refusal: 'score',
      reason: `the rule does not say "${unsaid.replace(/^[>~]/, '')}"`,
    });
  }
  const asked = new Set(own);
  const missing = tellingWords({ ...name, actions: [], slots: [] }).find((word) => !asked.has(word));
  if (missing !== undefined) {
    return refused({ source }, overlap, { refusal: 'score', reason: `the instruction does not say "${missing}"` });
  }
  if (overlap.score < threshold) {
    const reason = `its score is ${overlap.score.toFixed(2)}, below ${threshold}`;
    return refused({ source }, overlap, { refusal: 'score', reason });
  }
  const beyond = beyondPlain(instruction.guards) ?? beyondOrder(instruction.frame);
  if (beyond !== null) {
    return refused({ source }, overlap, { refusal: 'contradiction', reason: `the rule does not speak of ${beyond}` });
  }
  const writing = withoutInventions({ packet, slots: {}, refusal: null }, request.instruction);
  if (writing.refusal !== null) return refused({ source }, overlap, writing);
  return served(source, overlap, writing, request);
}
