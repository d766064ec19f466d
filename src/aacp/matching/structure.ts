/** Which words belong to which action, and in which relation. */

import type { Content, SlotUse, Structure } from './analysis.js';
import { baseOf } from './base-form.js';
import { dropHanding, joinRepeated } from './handing.js';
import { headsOf } from './heads.js';
import { type Slot, TIME_KINDS } from './instruction/slots.js';
import { isBearerNoun, isLight } from './lexicon/kinds.js';
import type { Part, StopPart, WordPart } from './parts.js';
import {
  actionNow,
  addContent,
  allOf,
  beginAction,
  currentAction,
  endSentence,
  type Form,
  newReader,
  type Reader,
  setRole,
} from './reader.js';
import { asOrder, isAsking, recast } from './recast.js';
import { isDative, markRecipient } from './recipients.js';
import {
  contextOf,
  introduces,
  isDocumentary,
  isFormatAt,
  isJoint,
  isListed,
  nounOf,
  sideOf,
  useOf,
} from './surroundings.js';
import { actionOf, beginsAction, isInfinitive, passiveActionOf } from './verbs.js';

/** Relations that qualify what they stand with, and order nothing. */
const QUALIFIERS: ReadonlySet<string> = new Set([
  ...['only', 'first', 'last', 'next', 'other', 'same', 'some', 'most', 'very', 'again', 'still', 'about', 'exactly'],
  ...['if-any', 'can', 'will', 'would', 'may', 'should', 'must', 'to-be', 'or', 'like', 'than', 'as', 'but'],
]);

/** Of these, the ones with which something else begins. */
const PARTING: ReadonlySet<string> = new Set(['as', 'about', 'like', 'than', 'but']);

/** Relations that negate the next word. */
const NEGATIONS: ReadonlySet<string> = new Set(['not', 'no']);

/** Relations to one value, which hold for nothing behind it. */
const BOUNDS: ReadonlySet<string> = new Set([
  ...['over', 'under', 'at-least', 'at-most', 'before', 'after', 'since', 'until', 'beyond', 'as-of', 'not'],
]);

/** Actions of two sides: "compare with", "match to", "check against". */
const COMPARING: ReadonlySet<string> = new Set(['compare', 'match', 'reconcile', 'check']);

export function structureOf(said: readonly Part[]): Structure {
  const parts = recast(said);
  const structure = structureIn(parts);
  if (structure.actions.length > 0) return structure;
  const order = asOrder(parts);
  return order === null ? structure : structureIn(order);
}

function structureIn(parts: readonly Part[]): Structure {
  const reader = newReader();
  for (let at = 0; at < parts.length; at++) readPart(reader, parts, at);
  endSentence(reader);
  dropHanding(reader);
  joinRepeated(reader);
  // Where only one thing is to be done, all else is about it.
  if (reader.actions.length === 1) for (const one of allOf(reader)) one.action = 0;
  return {
    actions: reader.actions,
    contents: reader.contents.map(
      ({ key, light, action, role, run, form }): Content => ({ key, light, action, role, run, form }),
    ),
    slots: reader.slots.map((use): SlotUse => use),
    relations: reader.relations,
    heads: headsOf(reader),
    ordered: reader.ordered,
    shares: reader.shares,
    asks: reader.asks && reader.actions.length === 1,
    joints: reader.joints,
  };
}

function readPart(reader: Reader, parts: readonly Part[], at: number): void {
  const part = parts[at]!;
  if (part.kind !== 'word') {
    reader.run++;
    if (part.kind !== 'stop' && part.kind !== 'slot') reader.article = '';
  }
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
  { determines, relative, pronoun, possesses, indefinite }: StopPart,
): void {
  reader.article = indefinite ? 'a' : '';
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

/** Prepositions that say no more than that one thing belongs to another, or about what it is. */
const BELONGING: ReadonlySet<string> = new Set([
  'of',
  'for',
  'in',
  'on',
  'at',
  'with',
  'regarding',
  'concerning',
  'named',
]);

function readWeak(reader: Reader, text: string): void {
  // "have the policy translated"
  if (reader.clause === 'start' && text === 'have') reader.wish = true;
  front(reader);
  if (!BELONGING.has(text)) reader.joints.push(text);
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
  else if (relation === 'about' && !countsNext(next)) readWeak(reader, 'regarding');
  else if (relation === 'to' && isInfinitive(parts, at + 1)) beginPurpose(reader);
  else if (relation === 'to-be' && next?.kind === 'word' && next.past && next.action !== undefined) {
    beginPassive(reader, passiveActionOf(next, subjectOf(reader)), isDative(next.action) && isThing(parts[at + 2]));
  } else if (relation === 'to-be' && next?.kind === 'word' && (next.past || INVARIANT.test(next.plain))) {
    beginPassive(reader, next.action ?? `?${next.key.replace(/\+ed$/, '')}`);
  } else if (saysForm(reader, relation) && isFormatAt(parts, at + 1)) setRole(reader, '');
  // "from CSV" is where it comes from, and no form of the answer.
  else if (relation === 'from' && isFormatAt(parts, at + 1)) setRole(reader, 'out-of');
  else if (relation === 'from' && nextNoun(parts, at) === 'template') readWeak(reader, 'with');
  else if (NEGATIONS.has(relation)) {
    // Two of them are none.
    if (reader.negated) addContent(reader, '~not', false);
    reader.negated = true;
    reader.phrase++;
  } else if (QUALIFIERS.has(relation)) {
    // "flag it as high risk": what follows is no longer what it is about.
    if (PARTING.has(relation)) reader.phrase++;
    addContent(reader, `~${relation}`, false);
  } else {
    front(reader);
    const twoSided = relation === 'to' && COMPARING.has(actionNow(reader) ?? '');
    setRole(reader, twoSided ? 'against' : relation);
    reader.clause = 'no';
  }
}

/** Participles that look like the verb. */
const INVARIANT = /^(?:set|put|cut|split|shut|forecast|reset|read|offset)$/;

/** "Use BANT to score the leads" asks to score them with BANT. */
function beginPurpose(reader: Reader): void {
  reader.clause = 'start';
  if (reader.actions.length === reader.sentence.actions + 1 && reader.actions.at(-1) === 'use') {
    reader.actions.pop();
    for (const one of allOf(reader)) if (one.action >= reader.actions.length) one.action = -1;
  }
}

/** The word that follows, an article left out. */
function nextNoun(parts: readonly Part[], at: number): string | undefined {
  const next = parts[at + 1]?.kind === 'stop' ? parts[at + 2] : parts[at + 1];
  return next?.kind === 'word' ? next.key : undefined;
}

/** "about 30 days" */
function countsNext(next: Part | undefined): boolean {
  return next?.kind === 'slot' && COUNTED.has(next.slot.kind);
}

const COUNTED: ReadonlySet<Slot['kind']> = new Set<Slot['kind']>(['number', 'amount', 'percent', 'time']);

/** "as a PDF", "export to PDF" */
function saysForm(reader: Reader, relation: string): boolean {
  return relation === 'as' || (relation === 'to' && actionNow(reader) === 'fetch');
}

function readWord(reader: Reader, parts: readonly Part[], at: number, word: WordPart): void {
  const { clause } = reader;
  if (clause !== 'no' && beginsAction(reader, parts, at, word)) {
    const before = parts[at - 1];
    beginAction(reader, actionOf(parts, at, word), before?.kind === 'break' && before.mark === 'colon');
    reader.article = '';
    reader.asks ||= isAsking(word);
    const next = parts[at + 1];
    reader.refers ||= next?.kind === 'stop' && next.refers;
    reader.wish = /^(?:i|i'd|i'm|we|we'd|we're)$/.test(word.plain);
    return;
  }
  // "Immediately withdraw ..."
  if (word.key !== 'urgent' || clause !== 'start') reader.clause = 'no';
  if (isSpent(reader, parts, at, word)) return;
  // "suppliers who sent an invoice", as against "who were sent one"
  const before = parts[at - 1];
  if (word.past && before?.kind === 'stop' && before.relative) addContent(reader, '~did', false);
  if (isGiven(parts[at - 1], parts[at - 2])) markRecipient(reader, parts, at);
  const light = isLight(word.key) || introduces(parts, at, word.key);
  if (/^(?:all|any|every|each)$/.test(word.plain)) reader.article = 'all';
  addContent(reader, word.key, light, isQuality(parts, at, word), formOf(reader, parts, at, word));
}

/** "give a.novak access": who gets it stands before it. */
function isGiven(part: Part | undefined, before: Part | undefined): boolean {
  if (part?.kind !== 'slot') return false;
  const { kind } = part.slot;
  return kind === 'handle' || kind === 'email' || (before?.kind === 'word' && isBearerNoun(before.key));
}

/** Words for several that have no plural ending. */
const COLLECTIVE = /^(?:staff|personnel|workforce|people)$/;

function formOf({ article }: Reader, parts: readonly Part[], at: number, { plain }: WordPart): Form {
  const plural = COLLECTIVE.test(plain) || (/[^su]s$/.test(plain) && baseOf(plain) !== plain);
  const next = parts[at + 1];
  // "a contract expiring in May"
  const isEnd = next?.kind !== 'word' || next.past || next.plain.endsWith('ing') || HAPPENING.has(next.key);
  return { plural, article, last: isEnd };
}

/** What things do: "leases expire". */
const HAPPENING: ReadonlySet<string> = new Set(['expire', 'end', 'begin', 'start', 'fall', 'lapse', 'apply', 'remain']);

/** A participle, or what is counted: "older than 90 days". */
function isQuality(parts: readonly Part[], at: number, { plain, key }: WordPart): boolean {
  const before = parts[at - 1];
  const isUnit =
    before?.kind === 'slot' && before.slot.kind === 'number' && /^(?:day|week|month|year|hour|minute)s?$/.test(plain);
  return isUnit || HAPPENING.has(key) || (plain.endsWith('ing') && !key.endsWith('ing'));
}

/** A participle that has been taken for an action: "should be approved", "I'd like it fetched". */
function isSpent(reader: Reader, parts: readonly Part[], at: number, { past, action, plain }: WordPart): boolean {
  const before = parts[at - 1];
  if (before?.kind === 'relation' && before.relation === 'to-be' && (past || INVARIANT.test(plain))) return true;
  if (!past || action === undefined) return false;
  const next = parts[at + 1];
  if (reader.passive && before?.kind === 'break' && before.mark === 'and') {
    // "should be reopened and assigned to the team"
    reader.actions.push(reader.negated ? `not:${action}` : action);
    reader.negated = false;
    setRole(reader, '');
    return true;
  }
  if (reader.passive && (next === undefined || next.kind === 'break')) return beginSecondPassive(reader, action);
  if (!reader.wish || next?.kind === 'word' || next?.kind === 'slot') return false;
  const asks = reader.actions.length > reader.sentence.actions;
  if (!asks) beginPassive(reader, action);
  return !asks || action === 'fetch';
}

/** "the password should be reset and the manager informed" */
function beginSecondPassive(reader: Reader, action: string): boolean {
  const { contents, slots, conjunct, sentence } = reader;
  const own = contents.slice(sentence.contents).filter((one) => one.conjunct === conjunct);
  const named = slots.slice(sentence.slots).filter((one) => one.conjunct === conjunct);
  const first = reader.actions.length - 1;
  if (own.length + named.length === 0 || [...own, ...named].some((one) => one.action !== first)) return false;
  reader.actions.push(reader.negated ? `not:${action}` : action);
  reader.negated = false;
  for (const one of [...own, ...named]) one.action = reader.actions.length - 1;
  return true;
}

/** "the report should be generated": the action stands behind what it is about. */
function beginPassive(reader: Reader, action: string, toSubject = false): void {
  // What is wished for is that it be done.
  if (reader.wish && reader.actions.length === reader.sentence.actions + 1) reader.actions.pop();
  reader.wish = false;
  reader.actions.push(reader.negated ? `not:${action}` : action);
  reader.negated = false;
  if (toSubject) subjectGets(reader);
  reader.passive = true;
  setRole(reader, '');
}

function subjectOf({ contents, sentence }: Reader): Reader['contents'] {
  return contents.slice(sentence.contents);
}

/** "All employees should be sent the policy": it goes to them. */
function subjectGets(reader: Reader): void {
  const { contents, slots, sentence } = reader;
  const said = [...contents.slice(sentence.contents), ...slots.slice(sentence.slots)];
  const span = Math.min(...said.map((one) => one.span));
  const subject = said.filter((one) => one.span === span);
  if (subject.some(({ role }) => role !== '')) return;
  for (const one of subject) one.role = 'to';
  if (subject.some((one) => 'key' in one && !one.light)) reader.relations.push('to');
}

/** Where a thing begins. */
function isThing(part: Part | undefined): boolean {
  return part?.kind === 'slot' || part?.kind === 'word' || (part?.kind === 'stop' && part.determines);
}

function readSlot(reader: Reader, parts: readonly Part[], at: number, slot: Slot): void {
  // "refund customer C-1 40 pounds"
  if (slot.kind === 'amount' && parts[at - 1]?.kind === 'slot') markRecipient(reader, parts, at);
  // "by department, Q2 2026"
  const before = parts[at - 1];
  const apart = before?.kind === 'break' && before.mark !== 'and' && parts[at - 2]?.kind === 'word';
  if (apart && TIME_KINDS.has(slot.kind)) setRole(reader, '');
  // "Q2 2026, not Q1 2026"
  if (reader.negated) setRole(reader, 'not');
  reader.negated = false;
  reader.used = true;
  // "by their 2025 revenue": the time belongs to the word behind it.
  const belongs = TIME_KINDS.has(slot.kind) && parts[at + 1]?.kind === 'word' && reader.role !== 'not';
  reader.slots.push({
    slot,
    role: belongs ? '' : reader.role,
    side: sideOf(parts, at, slot),
    documentary: reader.role === 'from' && isDocumentary(parts, at),
    span: reader.span,
    action: currentAction(reader),
    conjunct: reader.conjunct,
    listed: isListed(parts, at, slot),
    context: contextOf(parts, at, slot),
    noun: nounOf(parts, at, slot),
    use: useOf(parts, at, slot),
  });
  reader.clause = 'no';
  // "by HR-Agent, status ok"
  const [next, second] = [parts[at + 1], parts[at + 2]];
  const goesOn = isJoint(next) && second?.kind === 'slot' && second.slot.kind === slot.kind;
  const isOther = isJoint(next) && second?.kind === 'slot' && !goesOn;
  const ends = next?.kind === 'break' && next.mark === 'comma' && second?.kind === 'word';
  if (ends || isOther || (TIME_KINDS.has(slot.kind) && !goesOn && !belongs) || BOUNDS.has(reader.role))
    setRole(reader, '');
}
