/** The words that rules are searched by, in their base forms. */
import { stemmer } from 'stemmer';

/** One word of a query or of a rule. */
export interface SearchWord {
  /** As it was written, in lower case. */
  readonly word: string;
  readonly stem: string;
  /** A word with hyphens as a whole; its parts are words, too. */
  readonly whole: boolean;
}

/** Longer runs of letters are no words. */
const MAX_WORD = 40;
/** How far a text is read, in UTF-16 code units, and the most words that are taken from it. Nobody looks for more. */
const MAX_LENGTH = 10_000;
const MAX_WORDS = 64;

/** Words that say nothing about what is looked for. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about all also am an and any are as at be been but by can could do does each either every few for from had has have he
  her here his how i if in into is it its just let like many may me might more most much must my need of off on once only or
  other our out over own please same shall she should so some such than thank thanks that the their them then there these
  they this those through to too under until up us very want was we were what when where which while who whom whose why will
  with within would you your yours`.split(/\s+/),
);

/** What the TASK values are asked for with, beside their own names. Not words that are nouns as often: a list, a record. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = stemmed({
  FETCH: 'fetch get retrieve pull obtain show lookup',
  PROC: 'process handle run',
  FLAG: 'flag highlight escalate',
  RESOLVE: 'resolve settle solve',
  LOG: 'log',
  SEND: 'send notify inform tell remind',
  BUILD: 'build create make provision prepare',
  MERGE: 'merge combine consolidate join',
  CALC: 'calculate compute',
  REPORT: 'report summarise summarize',
  ACK: 'acknowledge confirm accept',
  SYNC: 'sync synchronise synchronize align refresh',
});

/** What no TASK does, and what must never be taken for another action: a rule has to have the word itself. */
const OTHER_ACTIONS: ReadonlySet<string> = new Set(
  `abort approve archive authorise authorize cancel deactivate decline delete deny destroy disable discard dismiss erase
  exclude overwrite purge reject remove revoke suspend terminate undo unsubscribe wipe withdraw`
    .split(/\s+/)
    .map(stemmer),
);

/** The words of a text, each once, without those that say nothing. */
export function searchWords(text: string): readonly SearchWord[] {
  const found = new Map<string, SearchWord>();
  for (const [run] of text
    .slice(0, MAX_LENGTH)
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+)*/gu)) {
    const parts = run.split(/[-_]/);
    for (const part of parts) add(part, stemOf(part), false);
    // Of "opt-in" and "opt-out", only the whole tells which.
    if (parts.length > 1 && run.length <= MAX_WORD) add(run, parts.map(stemOf).join('-'), true);
    if (found.size >= MAX_WORDS) break;
  }
  return [...found.values()];

  function add(word: string, stem: string, whole: boolean): void {
    if (word.length < 2 || word.length > MAX_WORD || STOP_WORDS.has(word) || found.has(stem)) return;
    found.set(stem, { word, stem, whole });
  }
}

/** The base forms of the words that ask for what a TASK does; none for a TASK of somebody's own. */
export function actionsOf(task: string): readonly string[] {
  return Object.hasOwn(ACTIONS, task) ? ACTIONS[task]! : [];
}

/** Whether the word asks for something that a rule does only if it says so. */
export function isOtherAction(stem: string): boolean {
  return OTHER_ACTIONS.has(stem);
}

function stemOf(word: string): string {
  return word.length > MAX_WORD ? word : stemmer(word);
}

function stemmed(words: Readonly<Record<string, string>>): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Object.entries(words).map(([task, list]) => [task, list.split(' ').map(stemmer)]));
}
