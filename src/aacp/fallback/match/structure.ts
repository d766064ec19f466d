/** Which words belong to which action, and in which relation. */
import { type Slot, TIME_KINDS } from '../instruction/slots.js';
import type { Analysis, Content, SlotUse } from './analysis.js';
import { dropHanding, joinRepeated } from './handing.js';
import { headsOf } from './heads.js';
import { isLight } from './lexicon/kinds.js';
import type { Part, StopPart, WordPart } from './parts.js';
import {
  actionNow,
  addContent,
  allOf,
  beginAction,
  currentAction,
  endSentence,
  newReader,
  type Reader,
  setRole,
} from './reader.js';
import { markRecipient } from './recipients.js';
import { contextOf, introduces, isFormatAt, isJoint, isListed, nounOf } from './surroundings.js';
import { actionOf, beginsAction, isInfinitive } from './verbs.js';

/** Relations that qualify what they stand with, and order nothing. */
const QUALIFIERS: ReadonlySet<string> = new Set([
  ...['only', 'first', 'last', 'next', 'other', 'same', 'some', 'most', 'very', 'again', 'still', 'about', 'exactly'],
  ...['if-any', 'can', 'will', 'would', 'may', 'should', 'must', 'to-be', 'or', 'like', 'than', 'as', 'but'],
]);

/** Relations that negate the next word. */
const NEGATIONS: ReadonlySet<string> = new Set(['not', 'no']);

/** Relations to one value, which hold for nothing behind it. */
const BOUNDS: ReadonlySet<string> = new Set([
  ...['over', 'under', 'at-least', 'at-most', 'before', 'after', 'since', 'until', 'beyond', 'as-of', 'not'],
]);

/** Actions of two sides: "compare with", "match to", "check against". */
const COMPARING: ReadonlySet<string> = new Set(['compare', 'match', 'reconcile', 'check']);

export function structureOf(parts: readonly Part[]): Omit<Analysis, 'guards'> {
  const reader = newReader();
  for (let at = 0; at < parts.length; at++) readPart(reader, parts, at);
  endSentence(reader);
  dropHanding(reader);
  joinRepeated(reader);
  // Where only one thing is to be done, all else is about it.
  if (reader.actions.length === 1) for (const one of allOf(reader)) one.action = 0;
  return {
    actions: reader.actions,
    contents: reader.contents.map(({ key, light, action, role }): Content => ({ key, light, action, role })),
    slots: reader.slots.map((use): SlotUse => use),
    relations: reader.relations,
    heads: headsOf(reader),
    ordered: reader.ordered,
    shares: reader.shares,
  };
}

function readPart(reader: Reader, parts: readonly Part[], at: number): void {
  const part = parts[at]!;
  switch (part.kind) {
    case 'break':
      readBreak(reader, part.mark);
      return;
    case 'lead':
      reader.clause = 'start';
      reader.ordered ||= part.orders;
      return;
    case 'stop':
      readStop(reader, parts, at, part);
      return;
    case 'weak':
      readWeak(reader, part.text);
      return;
    case 'relation':
      readRelation(reader, parts, at, part.relation, part.trailing);
      return;
    case 'slot':
      readSlot(reader, parts, at, part.slot);
      return;
    case 'word':
      readWord(reader, parts, at, part);
  }
}

function readBreak(reader: Reader, mark: Extract<Part, { readonly kind: 'break' }>['mark']): void {
  if (mark === 'end' || mark === 'question') {
    // Whether something is so is another thing than that it is so.
    if (mark === 'question' && reader.actions.length === reader.sentence.actions) addContent(reader, '~?', false);
    endSentence(reader);
  }
  // "Terms: net 30" stands in no relation to what comes before.
  if (mark === 'colon') setRole(reader, '');
  if (mark !== 'and') reader.fronted = false;
  if (reader.clause !== 'start') reader.clause = 'maybe';
  reader.conjunct++;
}

function readStop(
  reader: Reader,
  parts: readonly Part[],
  at: number,
  { determines, relative, pronoun, possesses }: StopPart,
): void {
  reader.shares ||= possesses && reader.actions.length > 1;
  // "contracts that expire": what follows belongs to what comes before.
  if (relative && reader.clause === 'no') reader.phrase++;
  if (determines) {
    if (reader.clause === 'start') reader.clause = 'no';
    markRecipient(reader, parts, at);
  }
  const before = parts[at - 1];
  const isObject = before?.kind === 'relation' || before?.kind === 'weak';
  // Who does something to whom: "that we brought against them".
  const matters = isObject || (pronoun === 'we' && reader.clause === 'no');
  if (pronoun !== null && matters) addContent(reader, `~${pronoun}`, false);
}

function readWeak(reader: Reader, text: string): void {
  // "have the policy translated"
  if (reader.clause === 'start' && text === 'have') reader.wish = true;
  front(reader);
  if (text === 'with' && COMPARING.has(actionNow(reader) ?? '')) setRole(reader, 'against');
  // What belongs to a thing stands in its relation.
  else if (text === 'of') reader.phrase++;
  else setRole(reader, '');
}

/** A clause that begins with a preposition has its verb behind the comma. */
function front(reader: Reader): void {
  if (reader.clause !== 'start') return;
  reader.clause = 'no';
  reader.fronted = true;
}

function readRelation(reader: Reader, parts: readonly Part[], at: number, relation: string, trailing: boolean): void {
  const next = parts[at + 1];
  const last = reader.slots.at(-1);
  if (trailing && last !== undefined) last.role = relation;
  // "to check", "in order to check": another action.
  else if (relation === 'to' && isInfinitive(parts, at + 1)) beginPurpose(reader);
  else if (relation === 'to-be' && next?.kind === 'word' && next.past && next.action !== undefined) {
    beginPassive(reader, next.action);
  } else if (saysForm(reader, relation) && isFormatAt(parts, at + 1)) setRole(reader, '');
  else if (NEGATIONS.has(relation)) {
    reader.negated = true;
    reader.phrase++;
  } else if (QUALIFIERS.has(relation)) addContent(reader, `~${relation}`, false);
  else {
    front(reader);
    const twoSided = relation === 'to' && COMPARING.has(actionNow(reader) ?? '');
    setRole(reader, twoSided ? 'against' : relation);
    reader.clause = 'no';
  }
}

/** "Use BANT to score the leads" asks to score them with BANT. */
function beginPurpose(reader: Reader): void {
  reader.clause = 'start';
  if (reader.actions.length === reader.sentence.actions + 1 && reader.actions.at(-1) === 'use') {
    reader.actions.pop();
    for (const one of allOf(reader)) if (one.action >= reader.actions.length) one.action = -1;
  }
}

/** "as a PDF", "export to PDF" */
function saysForm(reader: Reader, relation: string): boolean {
  return relation === 'as' || (relation === 'to' && actionNow(reader) === 'export');
}

function readWord(reader: Reader, parts: readonly Part[], at: number, word: WordPart): void {
  const { clause } = reader;
  if (clause !== 'no' && beginsAction(reader, parts, at, word)) {
    beginAction(reader, actionOf(parts, at, word));
    const next = parts[at + 1];
    reader.refers ||= next?.kind === 'stop' && next.refers;
    reader.wish = /^(?:i|i'd|i'm|we|we'd|we're)$/.test(word.plain);
    return;
  }
  // "Immediately withdraw ..."
  if (word.key !== 'urgent' || clause !== 'start') reader.clause = 'no';
  if (isSpent(reader, parts, at, word)) return;
  const light = isLight(word.key) || introduces(parts, at, word.key);
  addContent(reader, word.key, light, isQuality(parts, at, word));
}

/** A participle, or what is counted: "older than 90 days". */
function isQuality(parts: readonly Part[], at: number, { plain, key }: WordPart): boolean {
  const before = parts[at - 1];
  const isUnit =
    before?.kind === 'slot' && before.slot.kind === 'number' && /^(?:day|week|month|year|hour|minute)s?$/.test(plain);
  return isUnit || (plain.endsWith('ing') && !key.endsWith('ing'));
}

/** A participle that has been taken for an action: "should be approved", "I'd like it fetched". */
function isSpent(reader: Reader, parts: readonly Part[], at: number, { past, action }: WordPart): boolean {
  if (!past || action === undefined) return false;
  const before = parts[at - 1];
  if (before?.kind === 'relation' && before.relation === 'to-be') return true;
  const next = parts[at + 1];
  if (!reader.wish || next?.kind === 'word' || next?.kind === 'slot') return false;
  const asks = reader.actions.length > reader.sentence.actions;
  if (!asks) beginPassive(reader, action);
  return !asks || action === 'fetch';
}

/** "the report should be generated": the action stands behind what it is about. */
function beginPassive(reader: Reader, action: string): void {
  // What is wished for is that it be done.
  if (reader.wish && reader.actions.length === reader.sentence.actions + 1) reader.actions.pop();
  reader.wish = false;
  reader.actions.push(reader.negated ? `not:${action}` : action);
  reader.negated = false;
  setRole(reader, '');
}

function readSlot(reader: Reader, parts: readonly Part[], at: number, slot: Slot): void {
  // "refund customer C-1 40 pounds"
  if (slot.kind === 'amount' && parts[at - 1]?.kind === 'slot') markRecipient(reader, parts, at);
  // "Q2 2026, not Q1 2026"
  if (reader.negated) setRole(reader, 'not');
  reader.negated = false;
  // "by their 2025 revenue": the time belongs to the word behind it.
  const belongs = TIME_KINDS.has(slot.kind) && parts[at + 1]?.kind === 'word' && reader.role !== 'not';
  reader.slots.push({
    slot,
    role: belongs ? '' : reader.role,
    action: currentAction(reader),
    listed: isListed(parts, at, slot),
    context: contextOf(parts, at, slot),
    noun: nounOf(parts, at, slot),
  });
  reader.clause = 'no';
  // "by HR-Agent, status ok"
  const [next, second] = [parts[at + 1], parts[at + 2]];
  const goesOn = isJoint(next) && second?.kind === 'slot';
  const ends = next?.kind === 'break' && next.mark === 'comma' && second?.kind === 'word';
  if (ends || (TIME_KINDS.has(slot.kind) && !goesOn && !belongs) || BOUNDS.has(reader.role)) setRole(reader, '');
}
