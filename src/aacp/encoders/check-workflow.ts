/** Checks definitions, so that no step can write an invalid packet or hide an input. */
import type * as z from 'zod';
import { isRecord } from '../../text/guards.js';
import { checkedValue } from '../build/values.js';
import { KEY, WORD } from '../vocabulary.js';
import { type Placeholder, readTemplate } from './compile-slots.js';
import {
  camelCase,
  type FieldDefinition,
  type FieldOptions,
  type InputDefinition,
  type SequenceDefinition,
  type StepDefinition,
  type WorkflowDefinition,
} from './definition.js';
import { isBoolean } from './guard.js';
import { COMMON_INPUTS } from './inputs.js';
import { POINTER, rankOf } from './losses.js';
import { isNormalisation } from './normalise.js';

const NAME = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;

export function checkWorkflow(definition: WorkflowDefinition): void {
  const { name, alias, summary, steps, sequences = {} } = definition;
  if (typeof name !== 'string' || name === '') throw new TypeError('name must be a non-empty string');
  checkedValue(name, 'name');
  if (alias !== undefined && !isWord(alias)) throw new TypeError(`${name}: alias must be a word in lower case`);
  if (typeof summary !== 'string') throw new TypeError(`${name}: summary must be a string`);
  if (!isRecord(steps) || Object.keys(steps).length === 0)
    throw new TypeError(`${name}: steps must define at least one step`);
  if (!isRecord(sequences)) throw new TypeError(`${name}: sequences must be an object`);

  const methods = [...Object.keys(steps), ...Object.keys(sequences)];
  for (const method of methods) {
    if (!isWord(method)) {
      throw new TypeError(`${name}: the name of the step "${method}" must be lower case with underscores`);
    }
  }
  const spellings = new Set(methods.map(camelCase));
  if (spellings.size < methods.length) throw new TypeError(`${name}: two methods have the same name`);
  for (const [step, stepDefinition] of Object.entries(steps)) checkStep(`${name}.${step}`, stepDefinition);
  for (const [sequence, itsDefinition] of Object.entries(sequences)) {
    checkSequence(`${name}.${sequence}`, itsDefinition, steps);
  }
}

function checkSequence(path: string, sequence: SequenceDefinition, steps: WorkflowDefinition['steps']): void {
  const { inputs, steps: names } = sequence;
  if (!Array.isArray(names) || names.length === 0) throw new TypeError(`${path}: steps must be a list of step names`);
  if (!Array.isArray(inputs)) throw new TypeError(`${path}: inputs must be a list of names`);
  for (const name of names) {
    if (!Object.hasOwn(steps, name)) throw new TypeError(`${path}: the step "${name}" does not exist`);
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
    if (missing !== undefined) throw new TypeError(`${path}: the step ${name} requires the input "${missing}"`);
    if (step.returnAgent === undefined) throw new TypeError(`${path}: the step ${name} must define returnAgent`);
  }
}

function isRequired(input: { readonly optional?: boolean; readonly default?: unknown }): boolean {
  return input.optional !== true && input.default === undefined;
}

function isWord(name: unknown): boolean {
  return typeof name === 'string' && NAME.test(name);
}

/** The keys that every step writes. */
const OWN_KEYS = ['return', 'p', 'aacp'];

function checkStep(path: string, step: StepDefinition): void {
  if (typeof step !== 'object' || step === null) throw new TypeError(`${path}: a step must be an object`);
  const { summary, task, domain, inputs, fields, returnAgent, priority } = step;
  if (typeof summary !== 'string') throw new TypeError(`${path}: summary must be a string`);
  if (!isWritten(task, WORD)) throw new TypeError(`${path}: task must be a word in capital letters, such as FETCH`);
  if (!isWritten(domain, WORD)) throw new TypeError(`${path}: domain must be a word in capital letters, such as HR`);
  if (returnAgent !== undefined) attempt(path, 'returnAgent', () => checkedValue(returnAgent, 'it'));
  if (priority !== undefined && ![1, 2, 3].includes(priority))
    throw new TypeError(`${path}: priority must be 1, 2 or 3`);
  if (typeof inputs !== 'object' || inputs === null) throw new TypeError(`${path}: inputs must be an object`);
  if (!Array.isArray(fields)) throw new TypeError(`${path}: fields must be a list`);
  for (const [name, input] of Object.entries(inputs)) checkInput(`${path}: inputs.${name}`, name, input, inputs);
  const hasPersonal = Object.values(inputs).some(({ personal }) => personal === true);
  const read = fields.map((field: FieldDefinition, at): ReadField => {
    const items = checkField(`${path}: fields[${at}]`, field, inputs);
    const [key, , options = {}] = field;
    if (hasPersonal && key === POINTER && options.only !== 'compat') {
      throw new TypeError(`${path}: fields[${at}]: ${POINTER} is reserved for the personal inputs`);
    }
    return { key, options, items };
  });
  checkKeys(path, read);
  checkAlone(path, read, inputs);
}

type Inputs = StepDefinition['inputs'];

interface ReadField {
  readonly key: string;
  readonly options: FieldOptions;
  readonly items: readonly ReadItem[];
}

interface ReadItem {
  readonly template: string;
  readonly when: string | undefined;
  /** The inputs in the template. */
  readonly places: readonly Placeholder[];
}

function checkInput(path: string, name: string, input: InputDefinition, inputs: Inputs): void {
  if (!KEY.test(name)) throw new TypeError(`${path}: the name must be lower case with underscores`);
  if (COMMON_INPUTS.includes(name)) throw new TypeError(`${path}: every step already has this input`);
  if (!isSchema(input?.schema)) throw new TypeError(`${path}: schema must be a zod schema`);
  if (typeof input.description !== 'string') throw new TypeError(`${path}: description must be a string`);
  const { normalise = [], default: value, defaultWith, requires, list = false, personal = false } = input;
  if (!Array.isArray(normalise)) throw new TypeError(`${path}: normalise must be a list`);
  const unknown = normalise.find((kind) => !isNormalisation(kind));
  if (unknown !== undefined) throw new TypeError(`${path}: the normalisation "${String(unknown)}" does not exist`);
  for (const other of [defaultWith, requires]) {
    if (other !== undefined && !Object.hasOwn(inputs, other))
      throw new TypeError(`${path}: the input "${other}" does not exist`);
  }
  if (defaultWith !== undefined && value === undefined) throw new TypeError(`${path}: defaultWith requires a default`);
  if (value !== undefined && Array.isArray(value) !== list) {
    throw new TypeError(
      `${path}: default ${list ? 'must be a list, like the input' : 'must not be a list, since the input is not one'}`,
    );
  }
  if (list && personal) throw new TypeError(`${path}: a personal input must not be a list`);
}

function isSchema(schema: unknown): schema is z.ZodType {
  return typeof schema === 'object' && schema !== null && '_zod' in schema;
}

function checkField(path: string, field: FieldDefinition, inputs: Inputs): readonly ReadItem[] {
  if (!Array.isArray(field)) throw new TypeError(`${path}: a field must be a list of key, value and options`);
  const [key, value, options = {}] = field;
  if (!isWritten(key, KEY))
    throw new TypeError(
      `${path}: "${String(key)}" is not a key; use lower-case letters, digits and "_", and begin with a letter`,
    );
  if (OWN_KEYS.includes(key)) throw new TypeError(`${path}: ${key} is written automatically`);
  const { only, when } = options;
  if (only !== undefined && only !== 'default' && only !== 'compat') {
    throw new TypeError(`${path}: only must be 'default' or 'compat'`);
  }
  checkCondition(path, when, inputs);
  const items = Array.isArray(value) ? value : [value];
  if (items.length === 0) throw new TypeError(`${path}: the list of items is empty`);
  return items.map((item) => {
    const [template, condition] = Array.isArray(item) ? item : [item];
    checkCondition(path, condition, inputs);
    const places = checkTemplate(path, template, inputs, Array.isArray(value), only === 'compat');
    return { template, when: condition, places };
  });
}

function checkCondition(path: string, when: unknown, inputs: Inputs): void {
  if (when === undefined || (typeof when === 'string' && Object.hasOwn(inputs, when))) return;
  throw new TypeError(`${path}: the input "${String(when)}" does not exist`);
}

function checkTemplate(
  path: string,
  template: unknown,
  inputs: Inputs,
  inList: boolean,
  compat: boolean,
): readonly Placeholder[] {
  if (typeof template !== 'string') throw new TypeError(`${path}: a value must be a string or a list of strings`);
  const pieces = attempt(path, 'value', () => readTemplate(template));
  const places = pieces.filter((piece) => typeof piece !== 'string');
  for (const { input: name, normalise } of places) {
    const input = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
    if (input === undefined) throw new TypeError(`${path}: the input "${name}" does not exist`);
    if (input.personal && !compat) {
      throw new TypeError(`${path}: "${name}" is personal and can only be written behind ${POINTER}`);
    }
    if (input.list && (!inList || normalise.length > 0)) {
      throw new TypeError(`${path}: "${name}" is a list and must be an item of a list, without other text`);
    }
  }
  const sample = pieces.map((piece) => (typeof piece === 'string' ? piece : 'x')).join('');
  if (inList && sample.includes(','))
    throw new TypeError(`${path}: "${template}" contains a comma; write two items instead`);
  attempt(path, 'value', () => checkedValue(sample, `"${template}"`));
  return places;
}

/** Rejects keys that occur twice for any receiver, and keys that are not in the order of the reference SDK. */
function checkKeys(path: string, fields: readonly ReadField[]): void {
  for (const mode of ['default', 'compat']) {
    for (const knows of [false, true]) {
      const keys = fields
        .filter(({ options: { only = mode, ifKnown } }) => only === mode && (knows || !ifKnown))
        .map(({ key }) => key);
      const twice = keys.find((key, at) => keys.indexOf(key) < at);
      if (twice !== undefined) throw new TypeError(`${path}: the key "${twice}" is repeated`);
    }
  }
  for (const [at, { key }] of fields.entries()) {
    const next = fields[at + 1]?.key;
    if (next !== undefined && rankOf(next) < rankOf(key)) {
      throw new TypeError(`${path}: fields[${at + 1}]: "${next}" must precede "${key}"`);
    }
  }
}

function isWritten(text: unknown, pattern: RegExp): boolean {
  return typeof text === 'string' && pattern.test(text);
}

function attempt<T>(path: string, what: string, check: () => T): T {
  try {
    return check();
  } catch (thrown) {
    throw new TypeError(`${path}: ${what}: ${(thrown as Error).message}`, { cause: thrown });
  }
}

/** Requires that each input occurs alone in a field that is always written, or behind the pointer. */
function checkAlone(path: string, fields: readonly ReadField[], inputs: Inputs): void {
  const alone = new Set<string | null>();
  for (const { key, options, items } of fields) {
    if (options.only === 'compat') continue;
    checkItems(`${path}: ${key}`, items, inputs);
    if (options.when !== undefined || options.ifKnown) continue;
    for (const item of items) alone.add(shownBy(item, inputs));
  }
  for (const [name, { personal }] of Object.entries(inputs)) {
    if (personal !== true && !alone.has(name)) {
      throw new TypeError(
        `${path}: inputs.${name} must be the only input of some field that is always written; otherwise a packet could hide it`,
      );
    }
  }
}

/** Returns the input that an item always reveals: its only one, or a boolean that decides whether the item is written. */
function shownBy({ when, places: [place, ...more] }: ReadItem, inputs: Inputs): string | null {
  if (when !== undefined) return place === undefined && isBoolean(inputs[when]!.schema) ? when : null;
  return place !== undefined && more.length === 0 && place.normalise.length === 0 ? place.input : null;
}

/** Requires that optional items begin differently: `profile={profile}`, `team={team}`. */
function checkItems(path: string, items: readonly ReadItem[], inputs: Inputs): void {
  const varying = items.filter(({ when, places }) => when !== undefined || places.length > 0);
  if (varying.length < 2) return;
  const names: string[] = [];
  for (const { template, places } of varying) {
    if (places.some(({ input }) => inputs[input]!.list)) {
      throw new TypeError(
        `${path}: a list must be the only input of its field, since its items could be mistaken for other inputs`,
      );
    }
    const name = places.length === 0 ? template : /^[a-z][a-z0-9_]*=/.exec(template)?.[0];
    if (name === undefined) throw new TypeError(`${path}: "${template}" must begin with a name, as in team={team}`);
    const clash = names.some((other) => other.startsWith(name) || name.startsWith(other));
    if (clash) throw new TypeError(`${path}: two items begin with "${name}"`);
    names.push(name);
  }
}
