/** The state of reading an instruction: where in its sentence, and in which relation. */
import type { Slot } from './instruction/slots.js';

/** A word as it is collected. */
export interface Draft {
  readonly key: string;
  light: boolean;
  /** The number of its action; -1 for none so far. */
  action: number;
  role: string;
  /** Counts what follows prepositions: what an action is about stands before the first. */
  readonly phrase: number;
  /** Said before the verb, behind a preposition or in a sentence of its own: the verb is about something else. */
  aside: boolean;
  /** Counts what "and" parts. */
  readonly conjunct: number;
  /** A participle: it belongs to a thing, and is none. */
  readonly quality: boolean;
  /** Counts stretches of words that nothing parts. */
  readonly run: number;
  /** Counts what relations part. */
  readonly span: number;
  readonly form: Form;
}

/** How a word is said. */
export interface Form {
  readonly plural: boolean;
  /** `a`: one of several; `all`: each of them. */
  readonly article: 'a' | 'all' | '';
  /** It ends its stretch of words: what stands before it belongs to it. */
  readonly last: boolean;
}

/** A value as it is collected. */
export interface SlotDraft {
  readonly slot: Slot;
  readonly listed: boolean;
  /** The preposition or genitive that it stands behind. */
  readonly side: string;
  /** "the invoice from Acme": it is of Acme. */
  readonly documentary: boolean;
  readonly span: number;
  readonly conjunct: number;
  action: number;
  role: string;
  readonly context: string;
  readonly noun: string | null;
  readonly use: string;
}

export interface Reader {
  readonly actions: string[];
  readonly contents: Draft[];
  readonly slots: SlotDraft[];
  readonly relations: string[];
  /** Whether an action may begin here: at the start of a clause surely, behind a comma or "and" perhaps. */
  clause: 'start' | 'maybe' | 'no';
  /** The relation that words stand in here. */
  role: string;
  /** It has been counted: words stand in it. */
  counted: boolean;
  /** A value stands in it. */
  used: boolean;
  negated: boolean;
  phrase: number;
  conjunct: number;
  /** The actions, contents and slots that there were when the sentence began. */
  sentence: { readonly actions: number; readonly contents: number; readonly slots: number };
  /** "I need", "we want": what is wished for may be an action itself. */
  wish: boolean;
  /** Between a preposition that begins a clause and the comma behind it. */
  fronted: boolean;
  /** How many verbs before the last have had nothing of their own. */
  joined: number;
  /** "revoke their access": a value belongs to several actions. */
  shares: boolean;
  /** "flag it": what an action is about was said before. */
  refers: boolean;
  /** Something says in which order things are to be done. */
  ordered: boolean;
  /** Counts stretches of words that nothing parts. */
  run: number;
  /** Counts what relations part. */
  span: number;
  /** "should be reset": a participle behind "and" asks for something, too. */
  passive: boolean;
  article: Form['article'];
  /** A question or a heading: whether the answer has to be worked out is left open. */
  asks: boolean;
  /** Prepositions that say more than that one thing belongs to another. */
  readonly joints: string[];
}

export function newReader(): Reader {
  return {
    actions: [],
    contents: [],
    slots: [],
    relations: [],
    clause: 'start',
    role: '',
    counted: false,
    used: false,
    negated: false,
    phrase: 0,
    conjunct: 0,
    sentence: { actions: 0, contents: 0, slots: 0 },
    wish: false,
    fronted: false,
    joined: 0,
    shares: false,
    refers: false,
    ordered: false,
    run: 0,
    span: 0,
    passive: false,
    article: '',
    asks: false,
    joints: [],
  };
}

/** Contents and slots alike. */
export function allOf({ contents, slots }: Reader): readonly (Draft | SlotDraft)[] {
  return [...contents, ...slots];
}

/** Of "schedule and confirm", the first: what follows is about both. */
export function currentAction({ actions, joined }: Reader): number {
  return Math.max(actions.length - 1 - joined, -1);
}

/** The name of the current action, whether it is to be done or not. */
export function actionNow({ actions }: Reader): string | undefined {
  return actions.at(-1)?.replace(/^not:/, '');
}

/** Relations that turn round what they stand with, even where that is only "it" or "that". */
const TURNING: ReadonlySet<string> = new Set([
  ...['without', 'except', 'unless', 'instead', 'not', 'before', 'after', 'since', 'until', 'over', 'under', 'out-of'],
]);

export function setRole(reader: Reader, role: string): void {
  // "three days before that", "except to Leeds"
  if (!reader.used && !reader.counted && TURNING.has(reader.role)) reader.relations.push(reader.role);
  reader.used = false;
  reader.role = role;
  reader.counted = false;
  reader.phrase++;
  reader.span++;
}

const PLAIN: Form = { plural: false, article: '', last: false };

export function addContent(reader: Reader, key: string, light: boolean, quality = false, form: Form = PLAIN): void {
  const { negated, role, phrase, conjunct, run, span } = reader;
  const says = !light || negated;
  if (says && role !== '' && !reader.counted) {
    reader.relations.push(role);
    reader.counted = true;
  }
  reader.contents.push({
    key: negated ? `not:${key}` : key,
    light: !says,
    action: currentAction(reader),
    role,
    phrase,
    aside: reader.fronted,
    conjunct,
    quality,
    run,
    span,
    form,
  });
  if (!light) reader.negated = false;
}

/** @param topical what it is about stands before it: "Clause 7: flag as high risk" */
export function beginAction(reader: Reader, action: string, topical = false): void {
  // What an imperative is about stands behind it.
  if (!topical && reader.actions.length === reader.sentence.actions) setAside(reader);
  const last = reader.actions.length - 1;
  const isBare = last >= reader.sentence.actions && !allOf(reader).some((one) => one.action >= last - reader.joined);
  reader.joined = isBare ? reader.joined + 1 : 0;
  reader.actions.push(reader.negated ? `not:${action}` : action);
  reader.negated = false;
  reader.clause = 'no';
  setRole(reader, '');
}

/** What has been said in this sentence so far is not what its action is about. */
function setAside({ contents, sentence }: Reader): void {
  for (const one of contents.slice(sentence.contents)) one.aside = true;
}

/** What stands before the first action of its sentence belongs to it. */
export function endSentence(reader: Reader): void {
  const { sentence, actions } = reader;
  const asks = actions.length > sentence.actions;
  const first = asks ? sentence.actions : -1;
  if (!asks) setAside(reader);
  const late = [...reader.contents.slice(sentence.contents), ...reader.slots.slice(sentence.slots)];
  for (const one of late) if (one.action < sentence.actions) one.action = first;
  reader.sentence = { actions: actions.length, contents: reader.contents.length, slots: reader.slots.length };
  // Sentences come one after the other.
  reader.ordered ||= sentence.actions > 0 && actions.length > sentence.actions;
  reader.clause = 'start';
  // "are not there"
  if (reader.negated) reader.relations.push('not');
  reader.negated = false;
  reader.wish = false;
  reader.fronted = false;
  reader.joined = 0;
  reader.passive = false;
  setRole(reader, '');
}
