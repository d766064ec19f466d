/** From text to the list of what may be rules. */
import { RulesError } from './errors.js';

/**
 * The entries of a list, or of `{ "rules": [...] }`, as plain JSON.
 *
 * @param source JSON text, or what was read from it
 * @throws RulesError with code `bad-rules`
 */
export function entriesOf(source: unknown): readonly unknown[] {
  const data = typeof source === 'string' ? parsed(source) : parsed(asJson(source));
  if (Array.isArray(data)) return data;
  // Own members only: data from outside may lack any of them.
  const rules: unknown = isObject(data) && Object.hasOwn(data, 'rules') ? data['rules'] : undefined;
  if (Array.isArray(rules)) return rules;
  throw badRules('These are no rules: expected a list of them, or an object with the list as "rules".');
}

function parsed(text: string): unknown {
  try {
    // A byte order mark is no JSON, but files have it.
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
  } catch (cause) {
    throw badRules('These are no rules: the text is no JSON.', cause);
  }
}

/** Through text and back: what comes out has no getters, and nobody else holds it. */
function asJson(value: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch (cause) {
    throw badRules('These are no rules: the value cannot be written as JSON.', cause);
  }
  throw badRules(`These are no rules: expected JSON, found ${typeof value}.`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function badRules(message: string, cause?: unknown): RulesError {
  return new RulesError({ code: 'bad-rules', message }, { cause });
}
