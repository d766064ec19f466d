/** The inputs that every step has. */
import type { StepDefinition } from './definition.js';
import type { EngineInput } from './plan.js';
import { anyPriority, anyText, anyTextOrNumber } from './schemas.js';

/** The names of them. */
export const COMMON_INPUTS: readonly string[] = ['return_agent', 'priority'];

/** The inputs of a step: its own, who gets the result, and how urgent it is. */
export function withCommonInputs(step: Pick<StepDefinition, 'inputs' | 'returnAgent' | 'priority'>): {
  readonly [input: string]: EngineInput;
} {
  const returnAgent: EngineInput = {
    schema: anyText,
    description: 'the agent that gets the result',
    ...(step.returnAgent === undefined ? {} : { default: step.returnAgent }),
    example: step.returnAgent ?? 'Agent',
  };
  return {
    ...step.inputs,
    return_agent: returnAgent,
    priority: {
      schema: anyPriority,
      // The reference SDK takes whatever it is given.
      compatSchema: anyTextOrNumber,
      description: '1 (critical), 2 (medium) or 3 (low)',
      default: String(step.priority ?? 2),
    },
  };
}
