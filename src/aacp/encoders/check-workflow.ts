/** Checks definitions, so that no step can write an invalid packet or hide an input. */
import type * as z from 'zod';
import { isRecord } from '../../text/guards.js';
import { checkedValue } from '../build/values.js';
import { KEY, WORD } from '../vocabulary.js';
import { type Placeholder, readTemplate } from './compile-slots.js';
import {
  camelCase,
  type FieldDefinition,
  type InputDefinition,
  type ItemDefinition,
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
  return typeof name === 'string' && NAME.test(name);
}

/** Keys that every step writes. */
const OWN_KEYS = ['return', 'p', 'aacp'];

function checkStep(path: string, step: StepDefinition): void {
  if (typeof step !== 'object' || step === null) throw new TypeError(`${path}: a step is an object`);
  const { summary, task, domain, inputs, fields, returnAgent, priority } = step;
  if (typeof summary !== 'string') throw new TypeError(`${path}: summary says what the step does`);
  if (!isWritten(task, WORD)) throw new TypeError(`${path}: task is a word in capitals, such as FETCH`);
  if (!isWritten(domain, WORD)) throw new TypeError(`${path}: domain is a word in capitals, such as HR`);
  if (returnAgent !== undefined) attempt(path, 'returnAgent', () => checkedValue(returnAgent, 'it'));
  if (priority !== undefined && ![1, 2, 3].includes(priority)) throw new TypeError(`${path}: priority is 1, 2 or 3`);
  if (typeof inputs !== 'object' || inputs === null) throw new TypeError(`${path}: inputs are an object by name`);
  if (!Array.isArray(fields)) throw new TypeError(`${path}: fields is a list`);
  for (const [name, input] of Object.entries(inputs)) checkInput(`${path}: inputs.${name}`, name, input, inputs);
  const hasPersonal = Object.values(inputs).some(({ personal }) => personal === true);
  for (const [at, field] of fields.entries()) {
    checkField(`${path}: fields[${at}]`, field, inputs);
    if (hasPersonal && field[0] === POINTER && field[2]?.only !== 'compat') {
      throw new TypeError(`${path}: fields[${at}]: ${POINTER} is written for the personal inputs`);
    }
  }
  checkKeys(path, fields);
  checkAlone(path, step);
}

type Inputs = StepDefinition['inputs'];

function checkInput(path: string, name: string, input: InputDefinition, inputs: Inputs): void {
  if (!KEY.test(name)) throw new TypeError(`${path}: a name is a word in lower case with underscores`);
  if (COMMON_INPUTS.includes(name)) throw new TypeError(`${path}: every step has this input already`);
  if (!isSchema(input?.schema)) throw new TypeError(`${path}: schema is a schema of zod`);
  if (typeof input.description !== 'string') throw new TypeError(`${path}: description says what it is`);
  const { normalise = [], default: value, defaultWith, requires, list = false, personal = false } = input;
  if (!Array.isArray(normalise)) throw new TypeError(`${path}: normalise is a list`);
  const unknown = normalise.find((kind) => !isNormalisation(kind));
  if (unknown !== undefined) throw new TypeError(`${path}: there is no normalisation "${String(unknown)}"`);
  for (const other of [defaultWith, requires]) {
    if (other !== undefined && !Object.hasOwn(inputs, other))
      throw new TypeError(`${path}: there is no input "${other}"`);
  }
  if (defaultWith !== undefined && value === undefined) throw new TypeError(`${path}: defaultWith needs a default`);
  if (value !== undefined && Array.isArray(value) !== list) {
    throw new TypeError(`${path}: default ${list ? 'is a list, as the input is' : 'is a list, and the input is none'}`);
  }
  if (list && personal) throw new TypeError(`${path}: a personal input is no list`);
}

function isSchema(schema: unknown): schema is z.ZodType {
  return typeof schema === 'object' && schema !== null && '_zod' in schema;
}

function checkField(path: string, field: FieldDefinition, inputs: Inputs): void {
  if (!Array.isArray(field)) throw new TypeError(`${path}: a field is a list of key, value and options`);
  const [key, value, options = {}] = field;
  if (!isWritten(key, KEY)) throw new TypeError(`${path}: "${String(key)}" is no key`);
  if (OWN_KEYS.includes(key)) throw new TypeError(`${path}: ${key} is written for every step`);
  const { only, when } = options;
  if (only !== undefined && only !== 'default' && only !== 'compat') {
    throw new TypeError(`${path}: only is 'default' or 'compat'`);
  }
  checkCondition(path, when, inputs);
  const items = Array.isArray(value) ? value : [value];
  if (items.length === 0) throw new TypeError(`${path}: the list has no item`);
  for (const item of items) {
    const [template, condition] = Array.isArray(item) ? item : [item];
    checkCondition(path, condition, inputs);
    checkTemplate(path, template, inputs, { inList: Array.isArray(value), compat: only === 'compat' });
  }
}

function checkCondition(path: string, when: unknown, inputs: Inputs): void {
  if (when === undefined || (typeof when === 'string' && Object.hasOwn(inputs, when))) return;
  throw new TypeError(`${path}: there is no input "${String(when)}"`);
}

function checkTemplate(
  path: string,
  template: unknown,
  inputs: Inputs,
  { inList, compat }: { readonly inList: boolean; readonly compat: boolean },
): void {
  if (typeof template !== 'string') throw new TypeError(`${path}: a value is a text, or a list of texts`);
  const pieces = attempt(path, 'value', () => readTemplate(template));
  for (const piece of pieces) {
    if (typeof piece === 'string') continue;
    const input = Object.hasOwn(inputs, piece.input) ? inputs[piece.input] : undefined;
    if (input === undefined) throw new TypeError(`${path}: there is no input "${piece.input}"`);
    if (input.personal && !compat) {
      throw new TypeError(`${path}: "${piece.input}" is personal, and stands behind ${POINTER} only`);
    }
    if (input.list && (!inList || piece.normalise.length > 0)) {
      throw new TypeError(`${path}: "${piece.input}" is a list, and can only be an item of a list, as it is`);
    }
  }
  const sample = pieces.map((piece) => (typeof piece === 'string' ? piece : 'x')).join('');
  if (inList && sample.includes(',')) throw new TypeError(`${path}: "${template}" holds a comma; make two items of it`);
  attempt(path, 'value', () => checkedValue(sample, `"${template}"`));
}

/** Rejects keys that occur twice for any receiver, and keys out of the order of the reference SDK. */
function checkKeys(path: string, fields: readonly FieldDefinition[]): void {
  for (const mode of ['default', 'compat']) {
    for (const knows of [false, true]) {
      const keys = fields
        .filter(([, , { only = mode, ifKnown = false } = {}]) => only === mode && (knows || !ifKnown))
        .map(([key]) => key);
      const twice = keys.find((key, at) => keys.indexOf(key) < at);
      if (twice !== undefined) throw new TypeError(`${path}: the key "${twice}" is there twice`);
    }
  }
  for (const [at, [key]] of fields.entries()) {
    const next = fields[at + 1]?.[0];
    if (next !== undefined && rankOf(next) < rankOf(key)) {
      throw new TypeError(`${path}: fields[${at + 1}]: "${next}" comes before "${key}" in every packet`);
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

/** Requires each input to stand alone in a field that is always written, or behind the pointer. */
function checkAlone(path: string, step: StepDefinition): void {
  const alone = new Set<string>();
  for (const field of step.fields) {
    const [, value, { only, when, ifKnown = false } = {}] = field;
    if (only === 'compat') continue;
    const items = typeof value === 'string' ? [value] : value;
    checkItems(path, field, items, step);
    if (when !== undefined || ifKnown) continue;
    for (const item of items) {
      const name = typeof item === 'string' ? aloneIn(item) : conditionOf(item, step);
      if (name !== null) alone.add(name);
    }
  }
  for (const [name, { personal }] of Object.entries(step.inputs)) {
    if (personal !== true && !alone.has(name)) {
      throw new TypeError(`${path}: inputs.${name} stands alone in no field, so that packets could hide it`);
    }
  }
}

function placesOf(template: string): readonly Placeholder[] {
  return readTemplate(template).filter((piece) => typeof piece !== 'string');
}

function aloneIn(template: string): string | null {
  const [place, ...more] = placesOf(template);
  return place !== undefined && more.length === 0 && place.normalise.length === 0 ? place.input : null;
}

/** A boolean shows by whether its item is there. */
function conditionOf([template, when]: readonly [string, string], { inputs }: StepDefinition): string | null {
  const schema = inputs[when]?.schema;
  return placesOf(template).length === 0 && schema !== undefined && isBoolean(schema) ? when : null;
}

/** Several optional items each need their own beginning: `profile={profile}`, `team={team}`. */
function checkItems(
  path: string,
  [key]: FieldDefinition,
  items: readonly ItemDefinition[],
  { inputs }: StepDefinition,
): void {
  const varying = items.filter((item) => typeof item !== 'string' || placesOf(item).length > 0);
  if (varying.length < 2) return;
  const names = new Set<string>();
  for (const item of varying) {
    const template = typeof item === 'string' ? item : item[0];
    const places = placesOf(template);
    if (places.some(({ input }) => inputs[input]?.list === true)) {
      throw new TypeError(`${path}: ${key}: a list beside other inputs could be taken for them`);
    }
    const name = places.length === 0 ? template : /^[a-z][a-z0-9_]*=/.exec(template)?.[0];
    if (name === undefined)
      throw new TypeError(`${path}: ${key}: "${template}" does not begin with a name, as in team={team}`);
    const clash = [...names].some((other) => other.startsWith(name) || name.startsWith(other));
    if (clash) throw new TypeError(`${path}: ${key}: two items begin with "${name}"`);
    names.add(name);
  }
}
