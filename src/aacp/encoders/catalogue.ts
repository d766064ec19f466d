/** What the encoders offer, as data: for the command line, for forms, for rules that name a step. */
import { WORKFLOWS } from './builtin.js';
import { type MethodPlan, planOf } from './define-workflow.js';
import type { DefaultValue } from './definition.js';
import { isBoolean } from './guard.js';
import type { Normalisation } from './normalise.js';
import type { Slot } from './plan.js';

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

/**
 * What one encoder offers.
 *
 * @param encoder one of `defineWorkflow`
 * @throws TypeError on anything else
 */
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
    // Where any step requires it, so does the sequence.
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
