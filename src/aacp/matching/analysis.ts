/** What an instruction asks for, in a form that can be compared. */
import type { Unit } from './instruction/relative-anchor.js';
import type { Slot } from './instruction/slots.js';
import type { Form } from './reader.js';

/** A word, with its place in the sentence. */
export interface Content {
  /** Its class or base form; `not:` before it where it is negated, `~` before relations that qualify: `~only`. */
  readonly key: string;
  /** Says little: one text may have it and the other not. */
  readonly light: boolean;
  /** The number of the action that it belongs to. */
  readonly action: number;
  /** The relation that it stands in: `from`, `without`, or none. */
  readonly role: string;
  /** Counts stretches of words that nothing parts. */
  readonly run: number;
  readonly form: Form;
}

/** A value, with its place in the sentence. */
export interface SlotUse {
  readonly slot: Slot;
  readonly action: number;
  readonly role: string;
  /** The telling word that it stands with: what tells two values of a kind apart. */
  readonly context: string;
  /** One of several that "and" or a comma joins: their order says nothing. */
  readonly listed: boolean;
  /** The side that a name or an address stands on: `with`, `cc`; `of` for what is open. */
  readonly side: string;
  /** "the invoice from Acme": it is of Acme. */
  readonly documentary: boolean;
  /** What kind of thing an id names, where a word before it says so. */
  readonly noun: string | null;
  /** How a number is used: `count` in "12 chairs", its preposition (`at`) in "job at 9", and `''` as a name in "chair 12". */
  readonly use: string;
}

/** What the words of an instruction say. */
export interface Structure {
  /** What is asked for, in order; `not:` before what is not to be done. */
  readonly actions: readonly string[];
  readonly contents: readonly Content[];
  readonly slots: readonly SlotUse[];
  /** Relations that things stand in: `from`, `without`. */
  readonly relations: readonly string[];
  /** For each action and relation the things that it is about, as against what only belongs to them. */
  readonly heads: ReadonlyMap<string, readonly string[]>;
  /** The order of the actions is said, or told by sentences. */
  readonly ordered: boolean;
  /** A question or a heading: whether the answer has to be worked out is left open. */
  readonly asks: boolean;
  /** Prepositions that say more than that one thing belongs to another. */
  readonly joints: readonly string[];
  /** "disable the account of t.webb and revoke their access": a value belongs to several actions. */
  readonly shares: boolean;
}

/** Where a telling word stands: the number of its phrase, its place there, and the preposition of the phrase. */
export interface Standing {
  readonly phrase: number;
  readonly place: number;
  readonly preposition: string;
}

/** How an instruction is put together. */
export interface Frame {
  /** What has to be the same, each by the name that is told when it is not. */
  readonly marks: readonly (readonly [name: string, value: string])[];
  /** All telling words and values in their order, where two values of a kind could be taken for each other. */
  readonly sequence: string | null;
  /** What kinds of things its names and ids are said to name, sorted. */
  readonly bearers: readonly string[];
  /** For each telling word where it stands; `null` for one that comes twice. */
  readonly standings: ReadonlyMap<string, Standing | null>;
}

/** What has to be the same in both texts, each by the name that is told when it is not. */
export type Guards = ReadonlyMap<string, string>;

export interface Analysis extends Structure {
  /** What its relative times are counted in; `null` where it has none. */
  readonly unit: Unit | null;
  /** What else has to be the same. */
  readonly guards: Guards;
  readonly frame: Frame;
}
