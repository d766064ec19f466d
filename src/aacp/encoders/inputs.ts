import * as z from 'zod/mini';
import { quotedShort } from '../../text/visible.js';
import type { FieldDefinition, StepDefinition } from './definition.js';
import type { EngineInput, Refusal } from './plan.js';

export const anyText = z.string({ error: 'is not a string' });
export const anyTextOrNumber = z.union([anyText, z.number()], { error: 'is neither a string nor a finite number' });
export const anyNumber = z.number({ error: 'is not a finite number' });
export const anyList = z.array(anyText, { error: 'is not a list of strings' });
const anyBoolean = z.boolean({ error: 'is neither true nor false' });

const anyPriority = z.literal([1, 2, 3, '1', '2', '3'], {
  error: 'is not 1 (critical), 2 (medium) or 3 (low)',
});

export const COMMON_INPUTS: readonly string[] = ['return_agent', 'priority'];

export function withCommonInputs(step: Pick<StepDefinition, 'inputs' | 'returnAgent' | 'priority'>): {
  readonly [input: string]: EngineInput;
} {
  const returnAgent: EngineInput = {
    schema: anyText,
    description: 'the agent that receives the result',
    ...(step.returnAgent === undefined ? {} : { default: step.returnAgent }),
    example: step.returnAgent ?? 'Agent',
  };
  return {
    ...step.inputs,
    return_agent: returnAgent,
    priority: {
      schema: anyPriority,
      // The reference SDK accepts any priority.
      compatSchema: anyTextOrNumber,
      description: '1 (critical), 2 (medium) or 3 (low)',
      default: String(step.priority ?? 2),
    },
  };
}

const LETTERS = /^[A-Za-z]{3}$/;

/** Checks a currency as given, since in capital letters "ßa" becomes "SSA". */
export function refuseNoCurrency(_capitals: string, compat: boolean, given: string): Refusal | null {
  if (compat || LETTERS.test(given)) return null;
  const message = `${quotedShort(given)} is not three letters`;
  return { code: 'bad-input', message, help: 'a code of ISO 4217, such as GBP' };
}

/** Makes a step of a built-in workflow, from the words that begin its packet. */
export function step<const Inputs extends StepDefinition['inputs']>(
  [task, domain, returnAgent, priority]: readonly [task: string, domain: string, returnAgent: string, 1 | 2 | 3],
  summary: string,
  inputs: Inputs,
  fields: readonly FieldDefinition[],
) {
  return { summary, task, domain, returnAgent, priority, inputs, fields };
}

type More = Omit<EngineInput, 'schema' | 'description'>;

export function text<const M extends More>(description: string, more: M) {
  return { schema: anyText, description, ...more };
}

export function list<const M extends More>(description: string, more: M) {
  return { schema: anyList, description, list: true, ...more } as const;
}

/** Makes an input for an amount: a number, or its plain decimal digits. */
export function amount<const M extends More>(description: string, more: M) {
  return { schema: anyTextOrNumber, description, decimal: true, ...more } as const;
}

export function textOrNumber<const M extends More>(description: string, more: M) {
  return { schema: anyTextOrNumber, description, ...more };
}

export function flag(description: string) {
  return { schema: anyBoolean, description, default: false } as const;
}

export function actor<const Default extends string>(agent: Default) {
  return text('the agent or person that acted', { default: agent });
}

export function currency<const M extends More>(description: string, more: M) {
  return text(description, { ...more, normalise: ['upper-case'], refuse: refuseNoCurrency } as const);
}

export function period<const Example extends string>(description: string, example: Example) {
  return text(description, { example, period: true });
}

export const CURRENCY = currency('the currency, as three letters', { example: 'GBP' });

export const SUPPLIER = text('the supplier', { normalise: ['space-to-hyphen'], example: 'ABC Ltd' });

export const USERNAME = text('the account name', { example: 'j.smith' });
