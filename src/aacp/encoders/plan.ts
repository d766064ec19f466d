/** Compiled steps: names are numbers, templates are read, and constant text is written out. */
import type { EncodeCode } from '../build/values.js';
import type { InputDefinition } from './definition.js';
import type { Guard } from './guard.js';
import type { Normalisation } from './normalise.js';

/** What the raw encoder needs beyond what a definition can declare. */
export interface EngineInput extends InputDefinition {
  /** Only in `compat: 'sdk'`; otherwise says what to give instead. */
  readonly compatOnly?: string;
  /** The schema in `compat: 'sdk'`. */
  readonly compatSchema?: InputDefinition['schema'];
  /** Writes a number in `compat: 'sdk'`; `null` for nothing. */
  readonly compatText?: (value: number) => string | null;
  /** A period; lint warns of unusual forms (section 4.2). */
  readonly period?: boolean;
  /** Returns why a text cannot be written, or `null`. */
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
  readonly reading: Readonly<Record<Mode, Reading>>;
}

export type Mode = 'default' | 'compat';

export interface Reading {
  readonly schema: InputDefinition['schema'];
  /** Equivalent to the schema; `null` if there is none. */
  readonly guard: Guard | null;
  /** Accepts any string unchanged, up to what a field can hold. */
  readonly anyString: boolean;
  /** Plain strings and items are written unchanged, without further checks. */
  readonly asItIs: boolean;
  /** Stands in a list somewhere, so it may not hold a comma. */
  readonly item: boolean;
  /** Text of an input that is not given; `null` for nothing. */
  readonly defaultText: string | null;
}

interface Place {
  readonly slot: number;
  readonly normalise: readonly Normalisation[];
}

export interface ItemPlan {
  readonly pieces: readonly (string | Place)[];
  /** Slot of the condition, or -1. */
  readonly when: number;
}

export interface FieldPlan {
  readonly key: string;
  /** `|key:` */
  readonly start: string;
  readonly items: readonly ItemPlan[];
  /** Slot of the condition, or -1. */
  readonly when: number;
  /** Slots of the field, each once. */
  readonly slots: readonly number[];
  /** Consists of inputs only; left out if they are empty. */
  readonly pure: boolean;
}

/** One instruction: write `before`, then a field or an input, then `after`. */
export interface Op {
  readonly before: string;
  /** Slot, or -1. */
  readonly slot: number;
  readonly field: FieldPlan | null;
  readonly after: string;
  /** Writes nothing if the input is empty. */
  readonly pure: boolean;
}

/** A step for one mode and one kind of receiver. */
export interface Program extends Pick<StepPlan, 'head' | 'slots'> {
  readonly mode: Mode;
  /** Only "|" is refused in values, and unknown inputs are dropped. */
  readonly lenient: boolean;
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

export interface StepPlan {
  /** `PayrollEncoder.fetch_employees` */
  readonly path: string;
  readonly task: string;
  readonly domain: string;
  /** Inputs that give TASK and DOM; empty for a step with its own. */
  readonly head: readonly Slot[];
  readonly slots: readonly Slot[];
  readonly byName: ReadonlyMap<string, Slot>;
  /** `undefined` per input; copied for each run. */
  readonly noValues: readonly unknown[];
  /** Inputs that refer to another one. */
  readonly conditional: readonly Slot[];
  /** In `compat: 'sdk'`, only "|" is rejected in values, and unknown inputs are dropped. */
  readonly lenient: boolean;
  readonly program: (mode: Mode, knowsFields: boolean) => Program;
}
