/** The encoders as data: for the command line, forms, and rules that name a step. */
import { didYouMean } from '../../text/suggest.js';
import { anyText, quotedShort } from '../../text/visible.js';
import { type EncodeCode, type EncodeError, refusal } from '../build/values.js';
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

/** The workflows: the draft's four, then the reference SDK's others. */
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

/** By short name, as the command line has them. */
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

export interface WorkflowInfo {
  /** `PayrollEncoder` */
  readonly encoder: string;
  /** `payroll`; `null` for none. */
  readonly alias: string | null;
  readonly summary: string;
  /** Steps, then sequences. */
  readonly methods: readonly MethodInfo[];
}

export interface MethodInfo {
  /** `fetch_employees` */
  readonly name: string;
  readonly kind: 'step' | 'sequence';
  readonly summary: string;
  /** Of a step; `null` for a sequence. */
  readonly task: string | null;
  readonly domain: string | null;
  /** Of a sequence: its steps; empty for a step. */
  readonly steps: readonly string[];
  readonly inputs: readonly InputInfo[];
  /** A call with its packets; `null` where the definition has no example for an input that is required. */
  readonly example: MethodExample | null;
}

export interface MethodExample {
  readonly args: Readonly<Record<string, DefaultValue>>;
  readonly packets: readonly string[];
}

export interface InputInfo {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  readonly default: DefaultValue | null;
  /** The input with which the default counts; `null` when it always does. */
  readonly defaultWith: string | null;
  /** The changes of spelling that are made, in order. */
  readonly normalise: readonly Normalisation[];
  /** What is given: an amount is a number or its decimal digits; a number can stand for a text where it makes sense. */
  readonly type: 'text' | 'amount' | 'boolean' | 'list';
  /** It goes behind `data_ptr`. */
  readonly personal: boolean;
  readonly example: DefaultValue | null;
}

/** The encoders that come with pegwire, except the raw one: `RuleBasedEncoder` has no steps of its own. */
export function listWorkflows(): readonly WorkflowInfo[] {
  return Object.values(WORKFLOWS).map(describeWorkflow);
}

/** Describes an encoder of `defineWorkflow`. @throws TypeError on any other value */
export function describeWorkflow(encoder: object): WorkflowInfo {
  const plan = planOf(encoder);
  if (plan === undefined) throw new TypeError('encoder is one that defineWorkflow made');
  const { name, alias = null, summary } = plan.definition;
  // Each stands there by two names, or by one.
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
    // An input that any step requires is required.
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

/** The encoders, by the names of the reference SDK and by short ones. Names of them are checked when the program is compiled. */
export type EncoderName = keyof Encoders | keyof Aliases;

type Encoder<Name extends EncoderName> = Encoders[Name extends keyof Aliases ? Aliases[Name] : Name & keyof Encoders];

/** The methods of an encoder, by the names of the reference SDK and in camel case. */
export type MethodName<Name extends EncoderName> = keyof Encoder<Name> | CamelCase<keyof Encoder<Name>>;

/** The function behind either spelling. */
type MethodOf<Name extends EncoderName, Method> = {
  [K in keyof Encoder<Name>]: Method extends K | CamelCase<K> ? Encoder<Name>[K] : never;
}[keyof Encoder<Name>];

type ArgsOf<F> = F extends (args: infer Args, options?: EncodeOptions) => unknown ? Args : never;
type ResultOf<F> = F extends (...args: never[]) => infer Result ? Result : never;

/** Names that are only known at run time. */
type IsLoose<Name, Method> = string extends Name ? true : string extends Method ? true : false;

/** What a method takes; `never` for names that are none. */
export type EncodeArgs<Name extends string, Method extends string> =
  IsLoose<Name, Method> extends true
    ? Readonly<Record<string, unknown>>
    : Name extends EncoderName
      ? Method extends MethodName<Name>
        ? ArgsOf<MethodOf<Name, Method>>
        : never
      : never;

/** What a method gives: one packet, or several; by names that are only known at run time, the one or the other. */
export type EncodeResult<Name extends string, Method extends string> =
  IsLoose<Name, Method> extends true
    ? StepResult | readonly StepResult[]
    : Name extends EncoderName
      ? Method extends MethodName<Name>
        ? ResultOf<MethodOf<Name, Method>>
        : never
      : never;

/**
 * Returns the packet of a step, or the packets of a sequence. Source: draft-mackay-aacp-01, section 6.1; names and
 * arguments are those of the reference SDK.
 *
 * @param encoder `PayrollEncoder` or `payroll`
 * @param method `fetch_employees` or `fetchEmployees`
 * @throws EncodeError with code `unknown-encoder` or `unknown-method`, or naming an input that cannot be written
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
  // The names tell which of the two it is.
  return found.run(args, options) as EncodeResult<Name, Method>;
}

function unknownName(code: EncodeCode, path: string, name: unknown, known: readonly string[]): EncodeError {
  const text = anyText(name);
  return refusal(code, path, `there is no ${path} ${quotedShort(text)}`, didYouMean(text, known));
}
