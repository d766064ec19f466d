/** The checks of one step of a definition. */
import type * as z from 'zod/v4/core';
import { checkedValue } from '../build/values.js';
import { checkAlone } from './check-alone.js';
import { COMMON_INPUTS } from './common-inputs.js';
import type { FieldDefinition, InputDefinition, StepDefinition } from './definition.js';
import { POINTER, rankOf } from './emission-order.js';
import { isNormalisation } from './normalise.js';
import { readTemplate } from './template.js';

const UPPER_WORD = /^[A-Z][A-Z0-9_-]*$/;
const KEY = /^[a-z][a-z0-9_]*$/;
/** The engine writes them. */
const OWN_KEYS = ['return', 'p', 'aacp'];

/** @throws TypeError naming the step */
export function checkStep(path: string, step: StepDefinition): void {
  if (typeof step !== 'object' || step === null) throw new TypeError(`${path}: a step is an object`);
  const { summary, task, domain, inputs, fields, returnAgent, priority } = step;
  if (typeof summary !== 'string') throw new TypeError(`${path}: summary says what the step does`);
  if (!isWritten(task, UPPER_WORD)) throw new TypeError(`${path}: task is a word in capitals, such as FETCH`);
  if (!isWritten(domain, UPPER_WORD)) throw new TypeError(`${path}: domain is a word in capitals, such as HR`);
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

function isSchema(schema: unknown): schema is z.$ZodType {
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

/** No key twice, whoever the packet is for; and the order of the reference SDK. */
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

/** What a check of ours throws, with its place. */
function attempt<T>(path: string, what: string, check: () => T): T {
  try {
    return check();
  } catch (thrown) {
    throw new TypeError(`${path}: ${what}: ${(thrown as Error).message}`, { cause: thrown });
  }
}
