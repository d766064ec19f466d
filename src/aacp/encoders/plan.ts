/** A step made ready to run: names are resolved to numbers, templates are read, what never changes is written out. */
import type { EncodeCode } from '../build/values.js';
import type { InputDefinition } from './definition.js';
import type { Guard } from './guard.js';
import type { Normalisation } from './normalise.js';

/** What the built-in raw encoder needs beyond what a workflow can declare. */
export interface EngineInput extends InputDefinition {
  /** Only in `compat: 'sdk'`; elsewhere this says what to give instead. */
  readonly compatOnly?: string;
  /** What is taken in `compat: 'sdk'` instead. */
  readonly compatSchema?: InputDefinition['schema'];
  /** Writes a number in `compat: 'sdk'`; `null` for nothing. */
  readonly compatText?: (value: number) => string | null;
  /** A period: one that does not look like it is warned of (section 4.2). */
  readonly period?: boolean;
  /** Why a text cannot be written, after normalisation and as it was given; `null` when it can. */
  readonly refuse?: (text: string, compat: boolean, given: string) => Refusal | null;
}

export interface Refusal {
  readonly code: EncodeCode;
  readonly message: string;
  readonly help?: string | undefined;
}

export interface Slot {
  readonly name: string;
  readonly index: number;
  readonly definition: EngineInput;
  readonly required: boolean;
  readonly list: boolean;
  readonly personal: boolean;
  readonly normalise: readonly Normalisation[];
  /** By mode: how the values are checked. */
  readonly reading: Readonly<Record<Mode, Reading>>;
}

export type Mode = 'default' | 'compat';

export interface Reading {
  readonly schema: InputDefinition['schema'];
  /** A check as good as the schema, or `null` where there is none. */
  readonly guard: Guard | null;
  /** Any string is taken as it is, up to what a field can hold. */
  readonly anyString: boolean;
  /** A string, or an item of a list, is written as it is when it is plain: nothing is declared that could change or refuse it. */
  readonly asItIs: boolean;
  /** It stands in a list somewhere, and so holds no comma. */
  readonly item: boolean;
  /** What stands for an input that is not given: the text, or `null` for nothing. */
  readonly defaultText: string | null;
}

interface Place {
  readonly slot: number;
  readonly normalise: readonly Normalisation[];
}

export interface ItemPlan {
  readonly pieces: readonly (string | Place)[];
  /** The input on which the item depends, or -1. */
  readonly when: number;
}

export interface FieldPlan {
  readonly key: string;
  /** `|key:` */
  readonly start: string;
  readonly items: readonly ItemPlan[];
  /** The input on which the field depends, or -1. */
  readonly when: number;
  /** The inputs that stand in it, each once. */
  readonly slots: readonly number[];
  /** It consists of inputs alone: without them it is empty, and left out. */
  readonly pure: boolean;
}

/** One instruction: `before`, then a field or an input, then `after`. */
export interface Op {
  readonly before: string;
  /** The input, or -1. */
  readonly slot: number;
  readonly field: FieldPlan | null;
  readonly after: string;
  /** Nothing is written when the input is empty. */
  readonly pure: boolean;
}

/** A step for one mode and one kind of receiver. */
export interface Program {
  readonly mode: Mode;
  /** Only "|" is refused in values, and unknown inputs are dropped. */
  readonly lenient: boolean;
  readonly slots: readonly Slot[];
  /** The inputs from which TASK and DOM come; empty for a step that has them of its own. */
  readonly head: readonly Slot[];
  readonly ops: readonly Op[];
  /** The fields that hold inputs, in order, `return` and `p` included. */
  readonly fields: readonly FieldPlan[];
  /** Whether all that is given is written, unless the spelling of a value is changed. */
  readonly lossless: boolean;
  /** The fields that the receiver does not need. */
  readonly leftOut: readonly FieldPlan[];
  /** By input: whether it is in no template, or only in such with nothing else; an empty text is then nothing. */
  readonly pureSlots: readonly boolean[];
  /** The personal inputs, in ascending order of their names; they stand behind a pointer. */
  readonly referenced: readonly Slot[];
  /** Whether the packet holds that pointer. */
  readonly pointed: boolean;
  /** By input, what stands for one that is not given; then `null`, for the pointer. */
  readonly defaults: readonly (string | null)[];
}

/** What is the same for all modes. */
export interface StepPlan {
  /** `PayrollEncoder.fetch_employees` */
  readonly path: string;
  readonly task: string;
  readonly domain: string;
  /** The inputs from which TASK and DOM come instead; empty for a step that has them of its own. */
  readonly head: readonly Slot[];
  readonly slots: readonly Slot[];
  readonly byName: ReadonlyMap<string, Slot>;
  /** `undefined` for each input: a copy takes what is given. */
  readonly noValues: readonly unknown[];
  /** The inputs that have to do with another one. */
  readonly conditional: readonly Slot[];
  /** In `compat: 'sdk'`, only "|" is refused in values, and unknown inputs are dropped. */
  readonly lenient: boolean;
  readonly program: (mode: Mode, knowsFields: boolean) => Program;
}
