/** Compiled steps: names are replaced by indices, templates are parsed, and constant text is merged. */
import type { EncodeCode } from '../build/values.js';
import type { InputDefinition } from './definition.js';
import type { Guard } from './guard.js';
import type { Normalisation } from './normalise.js';

/** The definition of an input, with options that only the raw encoder uses. */
export interface EngineInput extends InputDefinition {
  /** The input exists in `compat: 'sdk'` only. Otherwise this text names the input to use instead. */
  readonly compatOnly?: string;
  /** The schema in `compat: 'sdk'`. */
  readonly compatSchema?: InputDefinition['schema'];
  /** Writes a number in `compat: 'sdk'`; returns `null` to omit it. */
  readonly compatText?: (value: number) => string | null;
  /** If true, the input is a period, whose form the linter checks (section 4.2). */
  readonly period?: boolean;
  /** Returns the reason why a text cannot be written, or `null`. */
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
  /** A check equivalent to the schema; `null` if there is none. */
  readonly guard: Guard | null;
  /** `true` if any string is accepted unchanged, up to the limits of a field. */
  readonly anyString: boolean;
  /** `true` if plain strings and items are written unchanged, without further checks. */
  readonly asItIs: boolean;
  /** `true` if the input occurs in a list, so it cannot contain a comma. */
  readonly item: boolean;
  /** The text of an omitted input; `null` if there is none. */
  readonly defaultText: string | null;
}

interface Place {
  readonly slot: number;
  readonly normalise: readonly Normalisation[];
}

export interface ItemPlan {
  readonly pieces: readonly (string | Place)[];
  /** The slot of the condition, or -1. */
  readonly when: number;
}

export interface FieldPlan {
  readonly key: string;
  /** `|key:`, which begins the field. */
  readonly start: string;
  readonly items: readonly ItemPlan[];
  /** The slot of the condition, or -1. */
  readonly when: number;
  /** The slots of the field, without duplicates. */
  readonly slots: readonly number[];
  /** `true` if the field consists of inputs only. It is omitted if they are empty. */
  readonly pure: boolean;
}

/** An operation: writes `before`, then a field or an input, then `after`. */
export interface Op {
  readonly before: string;
  /** The slot, or -1. */
  readonly slot: number;
  readonly field: FieldPlan | null;
  readonly after: string;
  /** `true` if nothing is written for an empty input. */
  readonly pure: boolean;
}

/** The program of a step for one mode and one kind of receiver. */
export interface Program extends Pick<StepPlan, 'head' | 'slots'> {
  readonly mode: Mode;
  /** `true` if only "|" is rejected in values, and unknown inputs are ignored. */
  readonly lenient: boolean;
  readonly ops: readonly Op[];
  /** The fields that contain inputs, in order, including `return` and `p`. */
  readonly fields: readonly FieldPlan[];
  /** `true` if all inputs are written, unless the spelling of a value is changed. */
  readonly lossless: boolean;
  /** The fields that the receiver does not need. */
  readonly leftOut: readonly FieldPlan[];
  /** For each input: `true` if it occurs in no template, or only in templates without other text. An empty string is then omitted. */
  readonly pureSlots: readonly boolean[];
  /** The personal inputs, in ascending order of their names. They are stored behind a pointer. */
  readonly referenced: readonly Slot[];
  /** `true` if the packet contains that pointer. */
  readonly pointed: boolean;
  /** The texts of omitted inputs, followed by `null` for the pointer. */
  readonly defaults: readonly (string | null)[];
}

export interface StepPlan {
  /** The full name of the step: `PayrollEncoder.fetch_employees`. */
  readonly path: string;
  readonly task: string;
  readonly domain: string;
  /** The inputs for TASK and DOM; empty for a step that defines them. */
  readonly head: readonly Slot[];
  readonly slots: readonly Slot[];
  readonly byName: ReadonlyMap<string, Slot>;
  /** A list of `undefined`, one per input, which is copied for each run. */
  readonly noValues: readonly unknown[];
  /** The inputs that refer to another one. */
  readonly conditional: readonly Slot[];
  /** `true` if in `compat: 'sdk'` only "|" is rejected in values, and unknown inputs are ignored. */
  readonly lenient: boolean;
  readonly program: (mode: Mode, knowsFields: boolean) => Program;
}
