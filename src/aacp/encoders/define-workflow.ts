/** From a definition to an encoder. */
import { checkWorkflow } from './check-workflow.js';
import { withCommonInputs } from './common-inputs.js';
import type { EngineStep } from './compile-slots.js';
import { compileStep } from './compile-step.js';
import type { SequenceDefinition, WorkflowDefinition } from './definition.js';
import { camelCase } from './names.js';
import { type EncodeOptions, resolveOptions } from './options.js';
import type { StepPlan } from './plan.js';
import type { StepResult } from './result.js';
import { runSequence, type SequencePlan } from './run-sequence.js';
import { runStep } from './run-step.js';
import type { Workflow } from './typing.js';

/** A method of an encoder, as data. */
export interface MethodPlan {
  readonly name: string;
  readonly summary: string;
  readonly run: (args: unknown, options?: EncodeOptions) => StepResult | readonly StepResult[];
  /** What it consists of: a step alone, or the steps of a sequence. */
  readonly steps: readonly StepPlan[];
  readonly sequence: SequencePlan | null;
}

/** An encoder, as data. */
export interface WorkflowPlan {
  readonly definition: WorkflowDefinition;
  /** By name, and by name in camel case. */
  readonly methods: ReadonlyMap<string, MethodPlan>;
}

const PLANS = new WeakMap<object, WorkflowPlan>();

/**
 * Makes an encoder of a definition: an object with a function for each step, which gives a packet, and for each sequence,
 * which gives several. The definition is checked once, here; packets are then valid without being validated.
 *
 * Source: draft-mackay-aacp-01, section 6.1.
 *
 * @throws TypeError naming the step, on a definition whose packets could be invalid or hide an input
 * @example
 * const TravelEncoder = defineWorkflow({
 *   name: 'TravelEncoder',
 *   summary: 'Booking of business trips.',
 *   steps: {
 *     book_train: {
 *       summary: 'Book a train.',
 *       task: 'BUILD',
 *       domain: 'HR',
 *       returnAgent: 'HR-Agent',
 *       inputs: { to: { schema: z.string(), description: 'the destination', normalise: ['space-to-hyphen'] } },
 *       fields: [['res', 'train'], ['filter', ['to={to}']]],
 *     },
 *   },
 * });
 * TravelEncoder.book_train({ to: 'New York' }).packet
 * // 'BUILD|HR|return:HR-Agent|p:2|aacp:1.1|res:train|filter:to=New-York'
 */
export function defineWorkflow<const Definition extends WorkflowDefinition>(
  definition: Definition,
): Workflow<Definition> {
  checkWorkflow(definition);
  const steps = new Map<string, StepPlan>();
  const methods: MethodPlan[] = [];
  for (const [name, step] of Object.entries(definition.steps)) {
    const plan = compiled(`${definition.name}.${name}`, { ...step, inputs: withCommonInputs(step) });
    steps.set(name, plan);
    methods.push(stepMethod(name, step.summary, plan));
  }
  for (const [name, sequence] of Object.entries(definition.sequences ?? {})) {
    methods.push(sequenceMethod(name, `${definition.name}.${name}`, sequence, steps));
  }
  return encoderOf(definition, methods) as Workflow<Definition>;
}

/** An encoder that consists of the one step of the raw encoder. */
export function defineRaw(definition: WorkflowDefinition, method: string, step: EngineStep): object {
  return encoderOf(definition, [stepMethod(method, step.summary, compiled(`${definition.name}.${method}`, step))]);
}

/** What an encoder consists of; `undefined` for what is none. */
export function planOf(encoder: object): WorkflowPlan | undefined {
  return PLANS.get(encoder);
}

function compiled(path: string, step: EngineStep): StepPlan {
  try {
    return compileStep(path, step);
  } catch (thrown) {
    // Only defaults are read when a step is compiled.
    throw new TypeError(`${path}: default: ${(thrown as Error).message}`, { cause: thrown });
  }
}

function stepMethod(name: string, summary: string, plan: StepPlan): MethodPlan {
  return { name, summary, steps: [plan], sequence: null, run: (args, options) => runStep(plan, args, options) };
}

function sequenceMethod(
  name: string,
  path: string,
  { summary, inputs, steps }: SequenceDefinition,
  plans: ReadonlyMap<string, StepPlan>,
): MethodPlan {
  const sequence: SequencePlan = { path, inputs, steps: steps.map((step) => plans.get(step)!) };
  const run: MethodPlan['run'] = (args, options) => runSequence(sequence, args, resolveOptions(options));
  return { name, summary, steps: sequence.steps, sequence, run };
}

function encoderOf(definition: WorkflowDefinition, methods: readonly MethodPlan[]): object {
  const encoder: Record<string, MethodPlan['run']> = Object.create(null);
  const byName = new Map<string, MethodPlan>();
  for (const method of methods) {
    encoder[method.name] = method.run;
    byName.set(method.name, method).set(camelCase(method.name), method);
  }
  PLANS.set(encoder, { definition, methods: byName });
  return Object.freeze(encoder);
}
