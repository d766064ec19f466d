/** The types of an encoder, worked out from its definition. */
import type * as z from 'zod/v4/core';
import type { InputDefinition, SequenceDefinition, StepDefinition, WorkflowDefinition } from './definition.js';
import type { EncodeOptions } from './options.js';
import type { StepResult } from './result.js';

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
export type Method<Args, Result> =
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
