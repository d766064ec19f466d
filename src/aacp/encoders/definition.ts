/** How a workflow is written down. `defineWorkflow` turns it into an encoder. */
import type * as z from 'zod/v4/core';
import type { Normalisation } from './normalise.js';

/** What an input may default to. */
export type DefaultValue = string | number | boolean | readonly string[];

/** One input of a step. It is required unless it is `optional` or has a default. */
export interface InputDefinition {
  /**
   * What may be given: a text, a number, a boolean, a list of texts. Its output is what is written; where a transform of the
   * schema changes a character, the loss report says so.
   */
  readonly schema: z.$ZodType;
  readonly description: string;
  /** May be left out. An input that is not given is `undefined`, `null`, an empty text or an empty list. @default false */
  readonly optional?: boolean;
  /** What stands for an input that is not given. */
  readonly default?: DefaultValue;
  /** The default counts only where that other input is given. */
  readonly defaultWith?: string;
  /** Another input that has to be given with this one. */
  readonly requires?: string;
  /** What every value is changed by, in this order. @default [] */
  readonly normalise?: readonly Normalisation[];
  /** A list. Its items hold no commas. @default false */
  readonly list?: boolean;
  /** An amount: texts have to be plain decimals. @default false */
  readonly decimal?: boolean;
  /** Personal data (section 15): it goes into no packet, but behind the `data_ptr` of it. @default false */
  readonly personal?: boolean;
  /** A value for the example packet of the catalogue. */
  readonly example?: DefaultValue;
}

/**
 * Text with inputs in braces: `qualified_lead_{lead_id}`. A field whose input is not given is left out. Behind a colon, further
 * normalisations: `payroll_{period:hyphen-to-underscore}`.
 */
export type Template = string;

/** An item of a list: a template, or one that is there only where an input is true: `['goodwill_consider', 'goodwill']`. */
export type ItemDefinition = Template | readonly [item: Template, when: string];

/** When a field is written at all. */
export interface FieldOptions {
  /** Only in one mode: as pegwire writes packets, or as the reference SDK does. @default in both */
  readonly only?: 'default' | 'compat';
  /** Only where this input is given, and neither `false` nor zero. */
  readonly when?: string;
  /** Only for a receiver that knows its fields (and so gets no field `fields`). @default false */
  readonly ifKnown?: boolean;
}

/** A field: its key, and its value as a template or as a list of items, which are joined with commas. */
export type FieldDefinition = readonly [
  key: string,
  value: Template | readonly ItemDefinition[],
  options?: FieldOptions,
];

/** A step: one packet. The fields `return`, `p` and `aacp` are written for it, and `data_ptr` where inputs are personal. */
export interface StepDefinition {
  readonly summary: string;
  /** A TASK (section 5.1); a private one has the form of those. */
  readonly task: string;
  /** A DOM (section 5.2). */
  readonly domain: string;
  /** Who gets the result, unless the input `return_agent` says otherwise; without it, that input is required. */
  readonly returnAgent?: string;
  /** The priority, unless the input `priority` says otherwise (section 5.3). @default 2 */
  readonly priority?: 1 | 2 | 3;
  readonly inputs: { readonly [input: string]: InputDefinition };
  /** In the order of the reference SDK; private keys come last. */
  readonly fields: readonly FieldDefinition[];
}

/** Several steps in a row, with inputs that each step takes by their names. */
export interface SequenceDefinition {
  readonly summary: string;
  readonly inputs: readonly string[];
  readonly steps: readonly string[];
}

/** A workflow: steps, and the sequences that they are run in. Names are words in lower case with underscores. */
export interface WorkflowDefinition {
  /** `PayrollEncoder` */
  readonly name: string;
  /** A short name: `payroll`. */
  readonly alias?: string;
  readonly summary: string;
  readonly steps: { readonly [step: string]: StepDefinition };
  readonly sequences?: { readonly [sequence: string]: SequenceDefinition };
}
