/** The definition of a workflow, and the types of the encoder that `defineWorkflow` makes of it. */
import type * as z from 'zod/v4/core';
import type { TokenCounter } from '../../tokens/counter.js';
import { type Receiver, resolveReceiver } from '../build/packet.js';
import type { Normalisation } from './normalise.js';
import type { StepResult } from './result.js';

/** `fetchEmployees` for `fetch_employees`. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** What an input may default to. */
export type DefaultValue = string | number | boolean | readonly string[];

/** One input of a step. It is required unless it is `optional` or has a default. */
export interface InputDefinition {
  /** Accepts a text, a number, a boolean or a list of texts. Its output is written; transforms are reported as losses. */
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
 * Text with inputs in braces: `qualified_lead_{lead_id}`, normalised further after a colon:
 * `payroll_{period:hyphen-to-underscore}`. A field without its input is left out.
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

/** How a step is encoded. */
export interface EncodeOptions {
  /**
   * `sdk`: packets of the reference SDK 1.4.0, byte for byte except `aacp:1.1`, which leave inputs out (see the losses) and
   * hold personal data. @default pegwire's packets, with everything given
   */
  readonly compat?: 'sdk' | undefined;
  /** Who reads the packet. */
  readonly receiver?: Receiver | undefined;
  /** What tokens are counted with. @default the exact counter for current models, where it is installed */
  readonly counter?: TokenCounter | undefined;
  /**
   * Returns the `data_ptr` of personal data (section 15): different for different data, and opaque if the data could be
   * guessed.
   *
   * @default `sha256:` and the SHA-256 of the data as canonical JSON, which confirms a guess
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
  if (typeof options !== 'object' || options === null) throw new TypeError('the options are an object');
  for (const name of Object.keys(options)) {
    if (!NAMES.includes(name)) throw new TypeError(`there is no option ${name}; there are ${NAMES.join(', ')}`);
  }
  const { compat, counter, pointer } = options;
  if (compat !== undefined && compat !== 'sdk') throw new TypeError("compat is 'sdk', or left out");
  if (counter !== undefined && typeof counter?.count !== 'function') {
    throw new TypeError('counter has a function count; loadTokenCounter gives one');
  }
  if (pointer !== undefined && typeof pointer !== 'function') {
    throw new TypeError('pointer is a function from data to the text of a pointer');
  }
  return { compat: compat === 'sdk', ...resolveReceiver(options), counter, pointer };
}

/** Section 5.3: 1 (critical), 2 (medium), 3 (low). */
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
  /** @default 2, or what the step says */
  readonly priority?: Priority | null | undefined;
} & (Step extends { readonly returnAgent: string }
  ? { readonly return_agent?: string | null | undefined }
  : { readonly return_agent: string });

/** Shows what is in a type, instead of how it came about. */
type Shown<T> = { [K in keyof T]: T[K] };

/** What a step takes. */
export type StepArgs<Step extends StepDefinition> = Shown<
  RequiredArgs<Step['inputs']> & OptionalArgs<Step['inputs']> & CommonArgs<Step>
>;

/** The definitions of one input in the steps of a sequence. */
type InputIn<Definition extends WorkflowDefinition, Sequence extends SequenceDefinition, Name extends string> = {
  [Step in Sequence['steps'][number]]: Name extends keyof Definition['steps'][Step]['inputs']
    ? Definition['steps'][Step]['inputs'][Name]
    : never;
}[Sequence['steps'][number]];

/** What a sequence takes: an input that any of its steps requires is required. */
export type SequenceArgs<Definition extends WorkflowDefinition, Sequence extends SequenceDefinition> = Shown<
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

/** Arguments may be left out where none is required. */
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

/** An encoder: a function for each step and each sequence of its definition. It has no prototype. */
export type Workflow<Definition extends WorkflowDefinition = WorkflowDefinition> = Shown<
  StepMethods<Definition> & SequenceMethods<Definition>
>;

/** `fetchEmployees` for `fetch_employees`. */
export type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;
