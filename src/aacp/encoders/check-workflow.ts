/** The checks of a definition, made once, so that no step can make a packet that is not valid, or hide an input. */
import { isRecord } from '../../text/guards.js';
import { checkedValue } from '../build/values.js';
import { checkStep } from './check-step.js';
import type { SequenceDefinition, WorkflowDefinition } from './definition.js';
import { camelCase } from './names.js';

const WORD = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;

/** @throws TypeError naming the step and what is wrong with it */
export function checkWorkflow(definition: WorkflowDefinition): void {
  const { name, alias, summary, steps, sequences = {} } = definition;
  if (typeof name !== 'string' || name === '') throw new TypeError('a workflow has a name');
  checkedValue(name, 'name');
  if (alias !== undefined && !isWord(alias)) throw new TypeError(`${name}: alias is a word in lower case`);
  if (typeof summary !== 'string') throw new TypeError(`${name}: summary says what the workflow does`);
  if (!isRecord(steps) || Object.keys(steps).length === 0) throw new TypeError(`${name}: steps has no step`);
  if (!isRecord(sequences)) throw new TypeError(`${name}: sequences are an object by name`);

  const methods = [...Object.keys(steps), ...Object.keys(sequences)];
  for (const method of methods) {
    if (!isWord(method)) {
      throw new TypeError(`${name}: the step "${method}" is no word in lower case with underscores`);
    }
  }
  const spellings = new Set(methods.map(camelCase));
  if (spellings.size < methods.length) throw new TypeError(`${name}: two methods have the same name`);
  for (const [step, stepDefinition] of Object.entries(steps)) checkStep(`${name}.${step}`, stepDefinition);
  for (const [sequence, itsDefinition] of Object.entries(sequences)) {
    checkSequence(`${name}.${sequence}`, itsDefinition, steps);
  }
}

/** Each input goes somewhere, and each step gets what it needs. */
function checkSequence(path: string, sequence: SequenceDefinition, steps: WorkflowDefinition['steps']): void {
  const { inputs, steps: names } = sequence;
  if (!Array.isArray(names) || names.length === 0) throw new TypeError(`${path}: steps is a list of steps`);
  if (!Array.isArray(inputs)) throw new TypeError(`${path}: inputs is a list of names`);
  for (const name of names) {
    if (!Object.hasOwn(steps, name)) throw new TypeError(`${path}: there is no step "${name}"`);
  }
  for (const input of inputs) {
    if (!names.some((name) => Object.hasOwn(steps[name]!.inputs, input))) {
      throw new TypeError(`${path}: no step has an input "${input}"`);
    }
  }
  for (const name of names) {
    const step = steps[name]!;
    const needed = Object.keys(step.inputs).filter((input) => isRequired(step.inputs[input]!));
    const missing = needed.find((input) => !inputs.includes(input));
    if (missing !== undefined) throw new TypeError(`${path}: the step ${name} needs the input "${missing}"`);
    if (step.returnAgent === undefined) throw new TypeError(`${path}: the step ${name} needs a returnAgent of its own`);
  }
}

function isRequired(input: { readonly optional?: boolean; readonly default?: unknown }): boolean {
  return input.optional !== true && input.default === undefined;
}

function isWord(name: unknown): boolean {
  return typeof name === 'string' && WORD.test(name);
}
