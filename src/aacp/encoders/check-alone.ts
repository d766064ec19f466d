/** Whether packets tell their inputs apart: inputs that differ, after their normalisations, have to give different packets. */
import type { FieldDefinition, ItemDefinition, StepDefinition } from './definition.js';
import { isBoolean } from './guard.js';
import { type Placeholder, readTemplate } from './template.js';

/**
 * Each input has to stand alone, as it is, in a field that is always written, or behind the pointer; and the items of a list
 * have to be told apart by what they begin with.
 *
 * @throws TypeError naming the step and the input
 */
export function checkAlone(path: string, step: StepDefinition): void {
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

/** A boolean is told by whether the item is there. */
function conditionOf([template, when]: readonly [string, string], { inputs }: StepDefinition): string | null {
  const schema = inputs[when]?.schema;
  return placesOf(template).length === 0 && schema !== undefined && isBoolean(schema) ? when : null;
}

/** With several items that come and go, each needs a beginning of its own: `profile={profile}`, `team={team}`. */
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
