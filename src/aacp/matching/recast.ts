/** Instructions in other moulds, recast as orders: "let her know", "a calculation of", "which leases run out?", headings. */
import { isAdjective, isFormat, isNounLike } from './lexicon/kinds.js';
import { NOMINALS, QUESTION_VERBS } from './lexicon/nominals.js';
import { readTable } from './lexicon/read.js';
import type { Part, StopPart, WordPart } from './parts.js';

/** Words between the parts of a frame. */
const MOST_BETWEEN = 8;

/** Verbs that only say that what the noun behind them means is to be done: "run a comparison of". */
const LIGHT_VERBS: ReadonlySet<string> = new Set(['run', 'create', 'fetch', 'draft']);

/** Nouns for what comes about only when it is asked for: "give me a comparison of", "I need the number of". */
const MADE: ReadonlySet<string> = new Set(['calculate', 'compare', 'analyse', 'summarise', 'count']);

/** The parts, with frames as plain orders. */
export function recast(parts: readonly Part[]): readonly Part[] {
  let found: Part[] | null = null;
  for (const step of STEPS) {
    const from = found ?? parts;
    for (let at = 0; at < from.length; at++) {
      const made = step(found ?? parts, at);
      if (made !== null) found = made;
    }
  }
  return found ?? parts;
}

/**
 * The parts of a text that asks for nothing, with what it is taken to ask for: a heading is a wish for what it names. `null`
 * where it is none: where somebody does something, or something is so.
 */
export function asOrder(parts: readonly Part[]): readonly Part[] | null {
  const first = parts.findIndex(({ kind }) => kind !== 'lead' && kind !== 'break');
  if (first < 0 || parts.some(tells)) return null;
  const said = parts.filter(({ kind }) => kind !== 'break' && kind !== 'lead');
  const last = said.at(-1);
  // "Invoice INV-1 approved": somebody reports it.
  if (last?.kind === 'word' && (last.past || isAdjective(last.key))) return null;
  const start = parts[first]?.kind === 'stop' ? first + 1 : first;
  const noun = parts[start];
  const of = parts[start + 1];
  const nominal = noun?.kind === 'word' ? nominalOf(noun) : undefined;
  if (nominal !== undefined && of?.kind === 'weak' && of.text === 'of') {
    return [...parts.slice(0, first), verb(nominal, ASKING), ...parts.slice(start + 2)];
  }
  return [...parts.slice(0, first), verb('fetch', ASKING), ...parts.slice(first)];
}

/** How a wish without a verb is told from an order. */
const ASKING = 'what';

/** Whether a verb asks as a question or a heading does, so that it is open whether the answer has to be worked out. */
export function isAsking({ plain }: WordPart): boolean {
  return plain === ASKING;
}

const FINITE = new Set(
  readTable(
    "is are was were am be been do does did has have i i've we've you've they've i'm we're you're they're it's that's there's who's who've we they he she you which who what whose",
  ),
);

/** A verb or its subject, a condition, a negation: no heading has these. */
function tells(part: Part): boolean {
  switch (part.kind) {
    case 'stop':
      return FINITE.has(part.plain);
    case 'weak':
      return /\b(?:has|have)\b/.test(part.text);
    case 'relation':
      return TELLING.has(part.relation);
    case 'word':
      return part.action !== undefined && !part.isNoun && !part.past && isOnlyVerb(part);
    default:
      return false;
  }
}

function isOnlyVerb(part: WordPart): boolean {
  return !/(?:[^s]s|ing)$/.test(part.plain) && !isNounLike(part.plain) && nominalOf(part) === undefined;
}

const TELLING: ReadonlySet<string> = new Set([
  ...[
    'not',
    'no',
    'if',
    'unless',
    'instead',
    'to-be',
    'will',
    'would',
    'may',
    'can',
    'should',
    'must',
    'but',
    'while',
    'when',
  ],
]);

type Step = (parts: readonly Part[], at: number) => Part[] | null;

const STEPS: readonly Step[] = [
  letKnow,
  needsDoing,
  getsSomething,
  asksWhetherDone,
  nominal,
  whichOnes,
  whatWeDid,
  howCompares,
  weHold,
  takeOut,
  sendInvitation,
];

/** "let customer C-1 know that" */
function letKnow(parts: readonly Part[], at: number): Part[] | null {
  if (!isWord(parts[at], 'let')) return null;
  const next = parts[at + 1];
  if (next?.kind === 'stop' && next.pronoun === 'we') return null;
  const end = findWithin(parts, at + 1, (part) => isWord(part, 'know'));
  return end < 0 ? null : [...parts.slice(0, at), verb('notify'), ...parts.slice(at + 1, end), ...parts.slice(end + 1)];
}

/** "needs resetting" */
function needsDoing(parts: readonly Part[], at: number): Part[] | null {
  const [need, done] = [parts[at], parts[at + 1]];
  if (need?.kind !== 'word' || !/^(?:needs?|requires?)$/.test(need.plain)) return null;
  if (done?.kind !== 'word' || done.action === undefined || !done.plain.endsWith('ing')) return null;
  return [...parts.slice(0, at), TO_BE, { ...done, past: true }, ...parts.slice(at + 2)];
}

/** "all employees should receive the policy" */
function getsSomething(parts: readonly Part[], at: number): Part[] | null {
  const [modal, gets] = [parts[at], parts[at + 1]];
  if (modal?.kind !== 'relation' || !/^(?:should|must)$/.test(modal.relation)) return null;
  if (gets?.kind !== 'word' || !/^(?:receive|get|go)$/.test(gets.plain)) return null;
  // "the policy should go to all employees"
  const to = parts[at + 2];
  if (gets.plain === 'go' && (to?.kind !== 'relation' || to.relation !== 'to')) return null;
  return [...parts.slice(0, at), TO_BE, { ...verb('send'), past: true }, ...parts.slice(at + 2)];
}

/** "could a ticket be opened" */
function asksWhetherDone(parts: readonly Part[], at: number): Part[] | null {
  const modal = parts[at];
  if (modal?.kind !== 'relation' || !/^(?:can|may|should)$/.test(modal.relation) || !begins(parts, at)) return null;
  const be = findWithin(parts, at + 1, (part) => part.kind === 'stop' && part.plain === 'be');
  const done = parts[be + 1];
  if (be < 0 || done?.kind !== 'word' || !done.past || done.action === undefined) return null;
  return [...parts.slice(0, at), ...parts.slice(at + 1, be), TO_BE, ...parts.slice(be + 1)];
}

/** "run a comparison of", "give me the number of" */
function nominal(parts: readonly Part[], at: number): Part[] | null {
  const light = parts[at];
  if (light?.kind !== 'word' || light.past || light.action === undefined || !LIGHT_VERBS.has(light.action)) return null;
  let next = at + 1;
  const articles: StopPart[] = [];
  for (let part = parts[next]; part?.kind === 'stop'; part = parts[++next]) articles.push(part);
  // "a CSV export of"
  const form = parts[next];
  const hasForm = form?.kind === 'word' && isFormat(form.key);
  if (hasForm) next++;
  const noun = parts[next];
  const of = parts[next + 1];
  const action = noun?.kind === 'word' ? nominalOf(noun) : undefined;
  if (action === undefined || of?.kind !== 'weak' || of.text !== 'of') return null;
  const isMade = MADE.has(action) && (action === 'count' || articles.every(({ indefinite }) => indefinite));
  if (light.action !== 'run' && light.plain !== 'make' && !isMade) return null;
  return [...parts.slice(0, at), verb(action), ...(hasForm ? [form] : []), ...parts.slice(next + 2)];
}

/** "which of our leases run out?" */
function whichOnes(parts: readonly Part[], at: number): Part[] | null {
  const which = parts[at];
  if (which?.kind !== 'stop' || which.plain !== 'which' || !begins(parts, at) || !isQuestion(parts, at)) return null;
  const next = parts[at + 1];
  const rest = next?.kind === 'weak' && next.text === 'of' ? at + 2 : at + 1;
  return [...parts.slice(0, at), verb('fetch', ASKING), ...parts.slice(rest)];
}

/** "what did we sell to" as "what were our sales to" */
function whatWeDid(parts: readonly Part[], at: number): Part[] | null {
  const [what, did, we, done] = parts.slice(at, at + 4);
  if (what?.kind !== 'stop' || what.plain !== 'what' || !begins(parts, at) || !isQuestion(parts, at)) return null;
  if (did?.kind !== 'stop' || !/^(?:did|do|have)$/.test(did.plain) || we?.kind !== 'stop' || we.pronoun !== 'we')
    return null;
  const key = done?.kind === 'word' ? QUESTION_VERBS.get(done.plain) : undefined;
  if (key === undefined || done?.kind !== 'word') return null;
  const noun: WordPart = { ...done, key, action: undefined, isNoun: true };
  return [...parts.slice(0, at), verb('fetch', ASKING), noun, ...parts.slice(at + 4)];
}

/** "how do A and B compare?" */
function howCompares(parts: readonly Part[], at: number): Part[] | null {
  const [how, does] = [parts[at], parts[at + 1]];
  if (!isWord(how, 'how') || does?.kind !== 'stop' || !/^(?:do|does|did)$/.test(does.plain)) return null;
  const compares = findWithin(parts, at + 2, (part) => isWord(part, 'compare'), 12);
  if (compares < 0 || !isQuestion(parts, at)) return null;
  return [
    ...parts.slice(0, at),
    verb('compare', ASKING),
    ...parts.slice(at + 2, compares),
    ...parts.slice(compares + 1),
  ];
}

/** "every lease we hold": of ours. */
function weHold(parts: readonly Part[], at: number): Part[] | null {
  const [we, hold] = [parts[at], parts[at + 1]];
  if (we?.kind !== 'stop' || we.plain !== 'we' || parts[at - 1]?.kind !== 'word') return null;
  const isHeld =
    hold?.kind === 'word' ? /^(?:hold|own)$/.test(hold.plain) : hold?.kind === 'weak' && hold.text === 'have';
  return isHeld ? [...parts.slice(0, at), ...parts.slice(at + 2)] : null;
}

/** "take app-03 out of the pool" */
function takeOut(parts: readonly Part[], at: number): Part[] | null {
  if (!isWord(parts[at], 'take') || !(begins(parts, at) || parts[at - 1]?.kind === 'break')) return null;
  const out = findWithin(
    parts,
    at + 2,
    (part) => (part.kind === 'relation' && part.text === 'out of') || isWord(part, 'off'),
  );
  if (out < 0 || parts[out + 1] === undefined || parts[out + 1]?.kind === 'break') return null;
  return [...parts.slice(0, at), verb('remove'), ...parts.slice(at + 1, out), FROM, ...parts.slice(out + 1)];
}

const MESSAGES: ReadonlyMap<string, string> = new Map([
  ['invitation', 'invite'],
  ['reminder', 'remind'],
  ['notification', 'notify'],
]);

/** "send Tessa Moreau an invitation" */
function sendInvitation(parts: readonly Part[], at: number): Part[] | null {
  const send = parts[at];
  if (send?.kind !== 'word' || send.action !== 'send' || send.past) return null;
  const message = findWithin(parts, at + 2, (part) => part.kind === 'word' && MESSAGES.has(part.plain));
  const [article, word] = [parts[message - 1], parts[message]];
  if (message < 0 || article?.kind !== 'stop' || !article.indefinite || word?.kind !== 'word') return null;
  const rest = [...parts.slice(at + 1, message - 1), ...parts.slice(message + 1)];
  return [...parts.slice(0, at), verb(MESSAGES.get(word.plain)!), ...rest];
}

const FROM: Part = { kind: 'relation', relation: 'from', text: 'from', trailing: false };
const TO_BE: Part = { kind: 'relation', relation: 'to-be', text: 'to be', trailing: false };

function verb(action: string, plain = action): WordPart {
  return { kind: 'word', plain, key: action, action, past: false, isNoun: false, isPhrase: true };
}

let nominals: ReadonlyMap<string, string> | undefined;

function nominalOf({ plain, action }: WordPart): string | undefined {
  // "blocking of"
  if (action !== undefined && plain.endsWith('ing')) return action;
  nominals ??= new Map(
    readTable(NOMINALS, ';').map((entry) => {
      const [noun = '', action = ''] = entry.split(' ');
      return [noun, action];
    }),
  );
  return nominals.get(plain);
}

function isWord(part: Part | undefined, plain: string): boolean {
  return part?.kind === 'word' && part.plain === plain;
}

/** Where what is looked for stands, before the sentence ends; -1 for nowhere near. */
function findWithin(parts: readonly Part[], from: number, isIt: (part: Part) => boolean, most = MOST_BETWEEN): number {
  for (let at = from; at < Math.min(parts.length, from + most); at++) {
    const part = parts[at]!;
    if (isIt(part)) return at;
    if (part.kind === 'break' && (part.mark === 'end' || part.mark === 'question')) return -1;
  }
  return -1;
}

/** Whether a sentence begins here. */
function begins(parts: readonly Part[], at: number): boolean {
  const before = parts[at - 1];
  if (before === undefined || before.kind === 'lead') return true;
  // "In 2026-07, how ..."
  return before.kind === 'break' && before.mark !== 'and';
}

function isQuestion(parts: readonly Part[], from: number): boolean {
  for (let at = from; at < parts.length; at++) {
    const part = parts[at]!;
    if (part.kind === 'break' && part.mark === 'question') return true;
    if (part.kind === 'break' && part.mark === 'end') return false;
  }
  return false;
}
