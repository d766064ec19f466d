/** Runs the steps of a sequence. */
import type { Settings } from './options.js';
import type { StepPlan } from './plan.js';
import type { StepResult } from './result.js';
import { argumentsOf, runChecked, unknownInput } from './run-step.js';

export interface SequencePlan {
  /** `PayrollEncoder.full_run` */
  readonly path: string;
  readonly inputs: readonly string[];
  readonly steps: readonly StepPlan[];
}

/** Each step takes the inputs that it knows. @throws EncodeError naming the input */
export function runSequence(plan: SequencePlan, args: unknown, settings: Settings): readonly StepResult[] {
  const given = argumentsOf(args);
  for (const name of Object.keys(given)) {
    if (!plan.inputs.includes(name)) throw unknownInput(name, plan.inputs, plan.path);
  }
  return plan.steps.map((step) => {
    const own: Record<string, unknown> = Object.create(null);
    for (const name of plan.inputs) {
      if (step.byName.has(name) && Object.hasOwn(given, name)) own[name] = given[name];
    }
    return runChecked(step, own, settings);
  });
}
