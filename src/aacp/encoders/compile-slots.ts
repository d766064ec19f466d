import type { FieldDefinition, StepDefinition } from './definition.js';
import { guardOf, takesAnyString } from './guard.js';
import { isNormalisation, type Normalisation } from './normalise.js';
import type { EngineInput, Mode, Reading, Slot } from './plan.js';
import { readValue } from './read-value.js';

export interface Placeholder {
  readonly input: string;
  readonly normalise: readonly Normalisation[];
}

type Piece = string | Placeholder;

const PLACEHOLDER = /\{([a-z][a-z0-9_]*)(?::([a-z,-]*))?\}/g;

export function readTemplate(template: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  const addText = (text: string): void => {
    if (/[{}]/.test(text)) throw new TypeError(`"${template}" contains a brace that does not belong to an {input}`);
    if (text !== '') pieces.push(text);
  };
  for (const match of template.matchAll(PLACEHOLDER)) {
    addText(template.slice(end, match.index));
    pieces.push({ input: match[1]!, normalise: normalisationsOf(match[2], template) });
    end = match.index + match[0].length;
  }
  addText(template.slice(end));
  return pieces;
}

function normalisationsOf(list: string | undefined, template: string): readonly Normalisation[] {
  if (list === undefined) return [];
  return list.split(',').map((name) => {
    if (!isNormalisation(name)) throw new TypeError(`"${template}": the normalisation "${name}" does not exist`);
    return name;
  });
}

/** A step with the options of the raw encoder, whose TASK and DOM are inputs. */
export interface EngineStep extends Omit<StepDefinition, 'inputs'> {
  readonly inputs: { readonly [input: string]: EngineInput };
  readonly headFromInputs?: boolean;
  readonly lenient?: boolean;
}

export function slotsOf(step: EngineStep): readonly Slot[] {
  const definitions = Object.entries(step.inputs);
  const inLists = { default: listedInputs(step.fields, 'default'), compat: listedInputs(step.fields, 'compat') };
  return definitions.map(([name, definition], index): Slot => {
    const list = definition.list === true;
    const reading = (mode: Mode): Reading => {
      const schema = (mode === 'compat' ? definition.compatSchema : undefined) ?? definition.schema;
      const item = list || inLists[mode].has(name);
      const anyString = !list && takesAnyString(schema);
      const guard = guardOf(schema);
      const { decimal = false, normalise = [], refuse } = definition;
      const asItIs =
        (anyString || (list && guard !== null)) && !decimal && normalise.length === 0 && refuse === undefined;
      return { schema, guard, anyString, asItIs, item, defaultText: null };
    };
    const slot = {
      name,
      index,
      definition,
      required: definition.optional !== true && definition.default === undefined,
      list,
      personal: definition.personal === true,
      normalise: definition.normalise ?? [],
      reading: { default: reading('default'), compat: reading('compat') },
    };
    return { ...slot, reading: { default: withDefault(slot, 'default'), compat: withDefault(slot, 'compat') } };
  });
}

function withDefault(slot: Slot, mode: Mode): Reading {
  const { default: value } = slot.definition;
  const reader = { program: { mode, lenient: false, pureSlots: [] }, changes: null };
  return { ...slot.reading[mode], defaultText: value === undefined ? null : readValue(slot, value, reader) };
}

/** Returns the inputs that occur in a list. In compat mode, only keys that the draft defines as lists count. */
function listedInputs(fields: readonly FieldDefinition[], mode: Mode): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [key, value, { only = mode } = {}] of fields) {
    if (typeof value === 'string' || only !== mode || (mode === 'compat' && !LIST_KEYS.includes(key))) continue;
    const pieces = value.flatMap((item) => readTemplate(typeof item === 'string' ? item : item[0]));
    for (const piece of pieces) if (typeof piece !== 'string') names.add(piece.input);
  }
  return names;
}

const LIST_KEYS = ['fields', 'src', 'chain', 'to', 'flags', 'flags_inherit', 'req'];
