/** The definition of a workflow, and the types of the encoder that `defineWorkflow` makes from it. */
import type * as z from 'zod/v4/core';
import type { TokenCounter } from '../../tokens/counter.js';
import { type Receiver, resolveReceiver } from '../build/packet.js';
import type { Normalisation } from './normalise.js';
import type { StepResult } from './result.js';

/** Converts a name to camel case: `fetchEmployees` for `fetch_employees`. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A default value of an input. */
export type DefaultValue = string | number | boolean | readonly string[];

/** The definition of an input of a step. The input is required unless it is `optional` or has a default. */
export interface InputDefinition {
  /** A zod schema that accepts a string, a number, a boolean or a list of strings. Its output is written; transforms are reported as losses. */
  readonly schema: z.$ZodType;
  /** The meaning of the input, for error messages and forms. */
  readonly description: string;
  /** If true, the input may be omitted. `undefined`, `null`, an empty string and an empty list count as omitted. @default false */
  readonly optional?: boolean;
  /** The value of an omitted input. @default none */
  readonly default?: DefaultValue;
  /** Another input that must be given for the default to apply. @default none: it always applies */
  readonly defaultWith?: string;
  /** Another input that must be given with this one. @default none */
  readonly requires?: string;
  /** The normalisations of each value, in order. @default [] */
  readonly normalise?: readonly Normalisation[];
  /** If true, the value is a list, whose items cannot contain commas. @default false */
  readonly list?: boolean;
  /** If true, the value is an amount: strings must be plain decimals. @default false */
  readonly decimal?: boolean;
  /** If true, the value is personal data (section 15): it is stored behind `data_ptr` instead of in the packet. @default false */
  readonly personal?: boolean;
  /** A value for the example of the step. @default none */
  readonly example?: DefaultValue;
}

/**
 * A text with inputs in braces: `qualified_lead_{lead_id}`. Normalisations follow a colon: `payroll_{period:hyphen-to-underscore}`. A field
 * is omitted if an input of it is.
 */
export type Template = string;

/** An item of a list: a template, or one that is written only if an input is true: `['goodwill_consider', 'goodwill']`. */
export type ItemDefinition = Template | readonly [item: Template, when: string];

/** Conditions under which a field is written. */
export interface FieldOptions {
  /** The mode in which the field is written: that of pegwire, or that of the reference SDK. @default both */
  readonly only?: 'default' | 'compat';
  /** The input that must be given, and be neither `false` nor zero. @default none */
  readonly when?: string;
  /** If true, the field is written only for a receiver that knows its fields (and so gets no field `fields`). @default false */
  readonly ifKnown?: boolean;
}

/** A field: its key, and its value as a template or as a list of items, which are joined with commas. */
export type FieldDefinition = readonly [
  key: string,
  value: Template | readonly ItemDefinition[],
  options?: FieldOptions,
];

/** The definition of a step, which makes one packet. `return`, `p` and `aacp` are written automatically, and `data_ptr` if inputs are personal. */
export interface StepDefinition {
  /** The purpose of the step. */
  readonly summary: string;
  /** The TASK (section 5.1). Private ones must have the same form. */
  readonly task: string;
  /** The DOM (section 5.2). */
  readonly domain: string;
  /** The agent that receives the result, unless the input `return_agent` is given. Without it, that input is required. */
  readonly returnAgent?: string;
  /** The priority, unless the input `priority` is given (section 5.3). @default 2 */
  readonly priority?: 1 | 2 | 3;
  /** The inputs by name. */
  readonly inputs: { readonly [input: string]: InputDefinition };
  /** The fields, in the order of the reference SDK; private keys come last. */
  readonly fields: readonly FieldDefinition[];
}

/** The definition of a sequence of steps, which pass their inputs by name. */
export interface SequenceDefinition {
  /** The purpose of the sequence. */
  readonly summary: string;
  /** The names of its inputs. */
  readonly inputs: readonly string[];
  /** The names of its steps, in order. */
  readonly steps: readonly string[];
}

/** The definition of a workflow: steps, and sequences of them. Names are words in lower case with underscores. */
export interface WorkflowDefinition {
  /** The name of the encoder: `PayrollEncoder`. */
  readonly name: string;
  /** The short name of the encoder: `payroll`. */
  readonly alias?: string;
  /** The purpose of the workflow. */
  readonly summary: string;
  /** The steps by name. */
  readonly steps: { readonly [step: string]: StepDefinition };
  /** The sequences by name. @default {} */
  readonly sequences?: { readonly [sequence: string]: SequenceDefinition };
}

/** Options of the workflow encoders. */
export interface EncodeOptions {
  /**
   * `sdk` writes the packets of the reference SDK 1.4.0, byte for byte except `aacp:1.1`; these omit inputs, which are reported as losses,
   * and contain personal data. @default packets that contain all inputs
   */
  readonly compat?: 'sdk' | undefined;
  /** The agent that reads the packet, which decides what can be omitted. @default an agent that knows nothing in advance */
  readonly receiver?: Receiver | undefined;
  /** The token counter. @default the exact counter for current models, if it is installed */
  readonly counter?: TokenCounter | undefined;
  /**
   * Returns the `data_ptr` of personal data (section 15). It must differ for different data, and be opaque if the data can be guessed.
   *
   * @default `sha256:` and the SHA-256 of the data as canonical JSON, which can confirm a guess
   */
  readonly pointer?: ((data: Readonly<Record<string, string>>) => string) | undefined;
}

export interface Settings {
  readonly compat: boolean;
  readonly knowsFields: boolean;
  readonly counter: TokenCounter | undefined;
  readonly pointer: EncodeOptions['pointer'];
}

const NAMES = ['compat', 'receiver', 'counter', 'pointer'];

const DEFAULTS: Settings = { compat: false, knowsFields: false, counter: undefined, pointer: undefined };

export function resolveOptions(options: EncodeOptions | undefined): Settings {
  if (options === undefined) return DEFAULTS;
  if (typeof options !== 'object' || options === null) throw new TypeError('options must be an object');
  for (const name of Object.keys(options)) {
    if (!NAMES.includes(name)) throw new TypeError(`unknown option ${name}; the options are ${NAMES.join(', ')}`);
  }
  const { compat, counter, pointer } = options;
  if (compat !== undefined && compat !== 'sdk') throw new TypeError("compat must be 'sdk', or undefined");
  if (counter !== undefined && typeof counter?.count !== 'function') {
    throw new TypeError('counter must have a method count; use loadTokenCounter');
  }
  if (pointer !== undefined && typeof pointer !== 'function') {
    throw new TypeError('pointer must be a function that returns a string');
  }
  return { compat: compat === 'sdk', ...resolveReceiver(options), counter, pointer };
}

/** A priority: 1 (critical), 2 (medium) or 3 (low); section 5.3. */
export type Priority = 1 | 2 | 3 | '1' | '2' | '3';

type OptionalInput = { readonly optional: true } | { readonly default: unknown };

type Readable<T> = T extends readonly (infer Item)[] ? readonly Item[] : T;
type Value<I extends InputDefinition> = Readable<z.input<I['schema']>>;

type RequiredArgs<Inputs extends { readonly [name: string]: InputDefinition }> = {
  readonly [K in keyof Inputs as Inputs[K] extends OptionalInput ? never : K]: Value<Inputs[K]>;
};
type OptionalArgs<Inputs extends { readonly [name: string]: InputDefinition }> = {
  readonly [K in keyof Inputs as Inputs[K] extends OptionalInput ? K : never]?: Value<Inputs[K]> | null | undefined;
};

type CommonArgs<Step extends StepDefinition> = {
  /** The priority. @default that of the step, or 2 */
  readonly priority?: Priority | null | undefined;
} & (Step extends { readonly returnAgent: string }
  ? { readonly return_agent?: string | null | undefined }
  : { readonly return_agent: string });

/** Expands a type, so that editors show its members. */
type Simplify<T> = { [K in keyof T]: T[K] };

/** The arguments of a step. */
export type StepArgs<Step extends StepDefinition> = Simplify<
  RequiredArgs<Step['inputs']> & OptionalArgs<Step['inputs']> & CommonArgs<Step>
>;

/** The definitions of an input in the steps of a sequence. */
type InputIn<Definition extends WorkflowDefinition, Sequence extends SequenceDefinition, Name extends string> = {
  [Step in Sequence['steps'][number]]: Name extends keyof Definition['steps'][Step]['inputs']
    ? Definition['steps'][Step]['inputs'][Name]
    : never;
}[Sequence['steps'][number]];

/** The arguments of a sequence. An input is required if any of its steps requires it. */
export type SequenceArgs<Definition extends WorkflowDefinition, Sequence extends SequenceDefinition> = Simplify<
  {
    readonly [Name in Sequence['inputs'][number] as [InputIn<Definition, Sequence, Name>] extends [OptionalInput]
      ? never
      : Name]: Value<InputIn<Definition, Sequence, Name>>;
  } & {
    readonly [Name in Sequence['inputs'][number] as [InputIn<Definition, Sequence, Name>] extends [OptionalInput]
      ? Name
      : never]?: Value<InputIn<Definition, Sequence, Name>> | null | undefined;
  }
>;

/** A method. Its arguments are optional if none is required. */
type Method<Args, Result> =
  Record<never, never> extends Args
    ? (args?: Args, options?: EncodeOptions) => Result
    : (args: Args, options?: EncodeOptions) => Result;

type StepMethods<Definition extends WorkflowDefinition> = {
  readonly [Step in keyof Definition['steps']]: Method<StepArgs<Definition['steps'][Step]>, StepResult>;
};
type SequenceMethods<Definition extends WorkflowDefinition> = Definition extends {
  readonly sequences: infer Sequences extends { readonly [name: string]: SequenceDefinition };
}
  ? {
      readonly [Name in keyof Sequences]: Method<SequenceArgs<Definition, Sequences[Name]>, readonly StepResult[]>;
    }
  : Record<never, never>;

/** An encoder, with a function for each step and each sequence of its definition. It has no prototype. */
export type Workflow<Definition extends WorkflowDefinition = WorkflowDefinition> = Simplify<
  StepMethods<Definition> & SequenceMethods<Definition>
>;

/** A name in camel case: `fetchEmployees` for `fetch_employees`. */
export type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;
