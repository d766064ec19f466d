/** Phrases by their words: what each stands for, and which is the longest at a place. */
import { baseOf } from '../base-form.js';
import { ACTIONS, PLAIN_ACTIONS } from './actions.js';
import { COURTESIES, RELATIONS, STOPS, TRAILING, WEAK } from './function-words.js';
import { MOVERS } from './movers.js';
import { NOUNS } from './nouns.js';
import { readClasses, readTable } from './read.js';

/** What a word or phrase stands for. */
export interface Meaning {
  /** The action that it asks for, where it is a verb. */
  readonly action?: string | undefined;
  /** The thing or quality that it names. */
  readonly noun?: string | undefined;
  /** A word that says little by itself. `lead`: a frame around an instruction; what follows begins one. */
  readonly relation?: string | undefined;
  readonly role?: 'lead' | 'weak' | 'stop' | 'relation' | 'trailing' | undefined;
}

export interface Found {
  readonly meaning: Meaning;
  /** Words. */
  readonly length: number;
  /** The words, as the table has them. */
  readonly text: string;
}

interface Node {
  readonly next: Map<string, Node>;
  meaning: Meaning | undefined;
  readonly text: string;
}

/** Phrases of small words as they stand, and phrases in base forms. */
interface Phrases {
  readonly plain: Node;
  readonly based: Node;
}

let phrases: Phrases | undefined;

/**
 * The longest phrase that begins at a place; among equals, the one of small words.
 *
 * @param plain the words in small letters
 * @param based their base forms
 */
export function phraseAt(plain: readonly string[], based: readonly string[], at: number): Found | undefined {
  phrases ??= readPhrases();
  const small = longest(phrases.plain, plain, at);
  const large = longest(phrases.based, based, at);
  if (small === undefined || large === undefined) return small ?? large;
  return large.length > small.length ? large : small;
}

/** Whether a word has a meaning of its own here, so that it is no name. */
export function isKnownWord(plain: string): boolean {
  return phraseAt([plain], [baseOf(plain)], 0) !== undefined;
}

function longest(root: Node, words: readonly string[], at: number): Found | undefined {
  let found: Found | undefined;
  let node: Node | undefined = root;
  for (let index = at; index < words.length; index++) {
    node = node.next.get(words[index]!);
    if (node === undefined) break;
    if (node.meaning !== undefined) found = { meaning: node.meaning, length: index - at + 1, text: node.text };
  }
  return found;
}

function readPhrases(): Phrases {
  const plain = emptyNode();
  for (const word of readTable(STOPS)) put(plain, word, { role: 'stop' });
  for (const phrase of readTable(WEAK, ';')) put(plain, phrase, { role: 'weak', relation: phrase });
  for (const phrase of readTable(COURTESIES, ';')) put(plain, phrase, { role: 'lead', relation: phrase });
  for (const [relation, words] of readClasses(RELATIONS, ';')) {
    for (const phrase of words) put(plain, phrase, { role: 'relation', relation });
  }
  for (const [relation, words] of readClasses(TRAILING, ';')) {
    for (const phrase of words) put(plain, phrase, { role: 'trailing', relation });
  }
  const based = emptyNode();
  for (const [action, words] of readClasses(ACTIONS, ',')) {
    for (const phrase of [action.replaceAll('-', ' '), ...words]) put(based, phrase, { action }, baseOf);
  }
  for (const action of readTable(PLAIN_ACTIONS)) put(based, action, { action }, baseOf);
  for (const [noun, words] of [...readClasses(NOUNS, ','), ...MOVERS]) {
    for (const phrase of [noun.replaceAll('-', ' '), ...words]) put(based, phrase, { noun }, baseOf);
  }
  return { plain, based };
}

function put(root: Node, phrase: string, meaning: Meaning, form: (word: string) => string = (word) => word): void {
  let node = root;
  for (const word of phrase.split(' ')) {
    const next = node.next.get(form(word)) ?? emptyNode(node.text === '' ? form(word) : `${node.text} ${form(word)}`);
    node.next.set(form(word), next);
    node = next;
  }
  node.meaning = { ...node.meaning, ...meaning };
}

function emptyNode(text = ''): Node {
  return { next: new Map(), meaning: undefined, text };
}
