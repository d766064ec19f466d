/** The inputs of a step, from options and from JSON. */

import type { MethodInfo } from '../../aacp/encoders/index.js';
import { EncodeError } from '../../aacp/encoders/index.js';
import type { PegwireError } from '../../text/errors.js';
import { spellings } from '../commands/aacp/steps.js';
import { parseExactJson } from '../io/exact-json.js';
import { notJson } from '../not-json.js';
import { type Invocation, UsageError } from '../options/command.js';

/** Inputs by their names, with no prototype. */
export type Inputs = Readonly<Record<string, unknown>>;

/** The inputs that options give. @throws UsageError on one that is given twice, and on a flag that is none */
export function inputsFromOptions({ inputs }: MethodInfo, { repeated }: Pick<Invocation, 'repeated'>): Inputs {
  const given: Record<string, unknown> = Object.create(null);
  for (const input of inputs) {
    const values = spellings(input.name).flatMap((option) => repeated[option] ?? []);
    if (values.length === 0) continue;
    if (input.type === 'list') given[input.name] = values.flatMap((value) => value.split(','));
    else if (values.length > 1) throw new UsageError(`--${input.name} is given ${values.length} times`);
    else given[input.name] = input.type === 'boolean' ? flagOf(input.name, values[0]!) : values[0];
  }
  return given;
}

/**
 * One JSON object with inputs by their names. Numbers keep all of their digits.
 *
 * @throws PegwireError on what is no JSON, or no object
 */
export function inputsFromJson(text: string): Inputs {
  const help = 'the inputs by their names: {"period":"2024-08"}';
  let read: ReturnType<typeof parseExactJson>;
  try {
    read = parseExactJson(text);
  } catch (thrown) {
    if (thrown instanceof SyntaxError) throw notJson(thrown, text, help);
    throw thrown as PegwireError;
  }
  const { value, losses } = read;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new EncodeError({ code: 'bad-input', path: 'inputs', message: 'are no JSON object', help });
  const inputs: Record<string, unknown> = Object.assign(Object.create(null), value);
  // As text, since no number of the engine has all of their digits.
  for (const { path, from } of losses) if (Object.hasOwn(inputs, path)) inputs[path] = from;
  for (const [name, input] of Object.entries(inputs)) if (typeof input === 'bigint') inputs[name] = String(input);
  return inputs;
}

/** An empty text is what an option without a value gives. */
function flagOf(name: string, value: string): boolean {
  if (value === '' || value === 'true') return true;
  if (value === 'false') return false;
  throw new UsageError(`--${name} is true or false, not "${value}"`);
}
