/** Describes the encoders as data: for the command line, for forms, and for rules that name a step. */
import { didYouMean } from '../../text/suggest.js';
import { anyText, quotedShort } from '../../text/visible.js';
import { type EncodeCode, type EncodeError, encodeError } from '../build/values.js';
import { type MethodPlan, planOf, type WorkflowPlan } from './define-workflow.js';
import type { CamelCase, DefaultValue, EncodeOptions } from './definition.js';
import { isBoolean } from './guard.js';
import type { Normalisation } from './normalise.js';
import type { Slot } from './plan.js';
import type { StepResult } from './result.js';
import { RuleBasedEncoder } from './rule-based.js';
import { ContractEncoder } from './workflows/contract.js';
import { CSResolutionEncoder } from './workflows/cs-resolution.js';
import { InvoiceEncoder } from './workflows/invoice.js';
import { ITEncoder } from './workflows/it.js';
import { JMLEncoder } from './workflows/jml.js';
import { MonthEndEncoder } from './workflows/month-end.js';
import { PayrollEncoder } from './workflows/payroll.js';
import { SalesEncoder } from './workflows/sales.js';

/** The workflows: the four of the draft, then the others of the reference SDK. */
const WORKFLOWS = {
  PayrollEncoder,
  ITEncoder,
  InvoiceEncoder,
  ContractEncoder,
  SalesEncoder,
  JMLEncoder,
  CSResolutionEncoder,
  MonthEndEncoder,
} as const;

const ENCODERS = { ...WORKFLOWS, RuleBasedEncoder } as const;

/** The short names of the encoders, as used on the command line. */
interface Aliases {
  readonly payroll: 'PayrollEncoder';
  readonly it: 'ITEncoder';
  readonly invoice: 'InvoiceEncoder';
  readonly contract: 'ContractEncoder';
  readonly sales: 'SalesEncoder';
  readonly jml: 'JMLEncoder';
  readonly cs_resolution: 'CSResolutionEncoder';
  readonly month_end: 'MonthEndEncoder';
  readonly rule_based: 'RuleBasedEncoder';
}

const PLANS: ReadonlyMap<string, WorkflowPlan> = new Map(
  Object.values(ENCODERS).flatMap((encoder) => {
    const plan = planOf(encoder)!;
    const { name, alias } = plan.definition;
    return [name, alias ?? name].map((each) => [each, plan] as const);
  }),
);

/** The description of an encoder. */
export interface WorkflowInfo {
  /** The name of the encoder: `PayrollEncoder`. */
  readonly encoder: string;
  /** The short name: `payroll`; `null` if there is none. */
  readonly alias: string | null;
  /** The purpose of the workflow. */
  readonly summary: string;
  /** The steps, then the sequences. */
  readonly methods: readonly MethodInfo[];
}

/** The description of a step or a sequence. */
export interface MethodInfo {
  /** The name of the method: `fetch_employees`. */
  readonly name: string;
  /** A step makes one packet, a sequence several. */
  readonly kind: 'step' | 'sequence';
  /** The purpose of the method. */
  readonly summary: string;
  /** The TASK of a step; `null` for a sequence. */
  readonly task: string | null;
  /** The DOM of a step; `null` for a sequence. */
  readonly domain: string | null;
  /** The steps of a sequence; empty for a step. */
  readonly steps: readonly string[];
  /** The inputs, in the order of the definition. */
  readonly inputs: readonly InputInfo[];
  /** An example call with its packets; `null` if the definition has no example for a required input. */
  readonly example: MethodExample | null;
}

/** An example call of a method. */
export interface MethodExample {
  /** The inputs by name. */
  readonly args: Readonly<Record<string, DefaultValue>>;
  /** The packets that the call returns. */
  readonly packets: readonly string[];
}

/** The description of an input. */
export interface InputInfo {
  /** The name of the input. */
  readonly name: string;
  /** The meaning of the input. */
  readonly description: string;
  /** `true` if the input has no default and is not optional. */
  readonly required: boolean;
  /** The default; `null` if there is none. */
  readonly default: DefaultValue | null;
  /** The input that must be given for the default to apply; `null` if it always applies. */
  readonly defaultWith: string | null;
  /** The normalisations of its spelling, in order. */
  readonly normalise: readonly Normalisation[];
  /** The type of the value. An amount is a number or its decimal digits. Some inputs of type text accept numbers. */
  readonly type: 'text' | 'amount' | 'boolean' | 'list';
  /** `true` if the value is stored behind `data_ptr` instead of in the packet. */
  readonly personal: boolean;
  /** A value for examples; `null` if there is none. */
  readonly example: DefaultValue | null;
}

/** Describes the encoders of pegwire, except `RuleBasedEncoder`, which has no steps. */
export function listWorkflows(): readonly WorkflowInfo[] {
  return Object.values(WORKFLOWS).map(describeWorkflow);
}

/** Describes an encoder. @throws TypeError if `encoder` was not made by `defineWorkflow` */
export function describeWorkflow(encoder: object): WorkflowInfo {
  const plan = planOf(encoder);
  if (plan === undefined) throw new TypeError('encoder must be an encoder made by defineWorkflow');
  const { name, alias = null, summary } = plan.definition;
  // Each method is listed under one name or two.
  const methods = [...new Set(plan.methods.values())].map(describeMethod);
  return { encoder: name, alias, summary, methods };
}

function describeMethod(method: MethodPlan): MethodInfo {
  const { name, steps, sequence, summary } = method;
  const inputs = inputsOf(method).map(describeInput);
  const [step] = steps;
  return {
    name,
    kind: sequence === null ? 'step' : 'sequence',
    summary,
    task: sequence === null ? (step?.task ?? null) : null,
    domain: sequence === null ? (step?.domain ?? null) : null,
    steps: sequence === null ? [] : steps.map(({ path }) => path.slice(path.lastIndexOf('.') + 1)),
    inputs,
    example: exampleOf(method, inputs),
  };
}

function inputsOf({ steps, sequence }: MethodPlan): readonly Slot[] {
  if (sequence === null) return steps[0]?.slots ?? [];
  return sequence.inputs.map((name) => {
    const slots = steps.flatMap(({ byName }) => byName.get(name) ?? []);
    // An input is required if any step requires it.
    return slots.find(({ required }) => required) ?? slots[0]!;
  });
}

function describeInput(slot: Slot): InputInfo {
  const { name, definition, required, personal, normalise } = slot;
  const { description, default: value = null, defaultWith = null, example = null } = definition;
  return { name, description, type: typeOf(slot), required, default: value, defaultWith, normalise, personal, example };
}

function typeOf({ list, definition }: Slot): InputInfo['type'] {
  if (list) return 'list';
  if (definition.decimal === true) return 'amount';
  return isBoolean(definition.schema) ? 'boolean' : 'text';
}

function exampleOf({ run }: MethodPlan, inputs: readonly InputInfo[]): MethodExample | null {
  const args: Record<string, DefaultValue> = Object.create(null);
  for (const { name, required, example } of inputs) {
    if (required && example === null) return null;
    if (required && example !== null) args[name] = example;
  }
  const result = run(args);
  const packets = Array.isArray(result) ? result.map(({ packet }) => packet) : [(result as { packet: string }).packet];
  return { args, packets };
}

type Encoders = typeof ENCODERS;

/** The name of an encoder: that of the reference SDK, or the short one. Literal names are checked at compile time. */
export type EncoderName = keyof Encoders | keyof Aliases;

type Encoder<Name extends EncoderName> = Encoders[Name extends keyof Aliases ? Aliases[Name] : Name & keyof Encoders];

/** The name of a method of an encoder, as in the reference SDK or in camel case. */
export type MethodName<Name extends EncoderName> = keyof Encoder<Name> | CamelCase<keyof Encoder<Name>>;

/** The type of the method with either spelling of its name. */
type MethodOf<Name extends EncoderName, Method> = {
  [K in keyof Encoder<Name>]: Method extends K | CamelCase<K> ? Encoder<Name>[K] : never;
}[keyof Encoder<Name>];

type ArgsOf<F> = F extends (args: infer Args, options?: EncodeOptions) => unknown ? Args : never;
type ResultOf<F> = F extends (...args: never[]) => infer Result ? Result : never;

/** `true` for names that are only known at run time. */
type IsLoose<Name, Method> = string extends Name ? true : string extends Method ? true : false;

/** The arguments of a method; `never` for unknown names. */
export type EncodeArgs<Name extends string, Method extends string> =
  IsLoose<Name, Method> extends true
    ? Readonly<Record<string, unknown>>
    : Name extends EncoderName
      ? Method extends MethodName<Name>
        ? ArgsOf<MethodOf<Name, Method>>
        : never
      : never;

/** The result of a method: one packet or several. For names that are only known at run time, either. */
export type EncodeResult<Name extends string, Method extends string> =
  IsLoose<Name, Method> extends true
    ? StepResult | readonly StepResult[]
    : Name extends EncoderName
      ? Method extends MethodName<Name>
        ? ResultOf<MethodOf<Name, Method>>
        : never
      : never;

/**
 * Encodes a step as a packet, or a sequence as several. Source: draft-mackay-aacp-01, section 6.1; the names and arguments are those of
 * the reference SDK.
 *
 * @param encoder `PayrollEncoder` or `payroll`
 * @param method `fetch_employees` or `fetchEmployees`
 * @throws EncodeError with code `unknown-encoder` or `unknown-method`, or if an input cannot be written; `path` names it
 * @throws TypeError if an option is invalid
 * @example
 * encodeStep('PayrollEncoder', 'fetch_employees', { period: '2024-08' }).packet
 * // 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:2024-08|filter:status=active|fmt:json'
 */
export function encodeStep<const Name extends string, const Method extends string>(
  encoder: Name,
  method: Method,
  args: EncodeArgs<Name, Method>,
  options?: EncodeOptions,
): EncodeResult<Name, Method> {
  const plan = PLANS.get(encoder);
  if (plan === undefined) throw unknownName('unknown-encoder', 'encoder', encoder, [...PLANS.keys()]);
  const { methods } = plan;
  const found = methods.get(method);
  if (found === undefined) throw unknownName('unknown-method', 'method', method, [...methods.keys()]);
  // The names determine the type of the result.
  return found.run(args, options) as EncodeResult<Name, Method>;
}

function unknownName(code: EncodeCode, path: string, name: unknown, known: readonly string[]): EncodeError {
  const text = anyText(name);
  return encodeError(code, path, `the ${path} ${quotedShort(text)} does not exist`, didYouMean(text, known));
}
