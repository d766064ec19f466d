/** How a step names what others have made: `{ "$from": "steps.fetch.rows" }`, `{ "$from": "inputs.url" }`. */
import { ArcpError } from '../../protocol/errors.js';

export type Scope = Readonly<Record<string, unknown>>;

interface Names {
  readonly inputs: Scope;
  readonly steps: Scope;
}

/**
 * The value with all references in it resolved.
 *
 * @throws ArcpError `INVALID_ARGUMENT` on a reference to what there is not
 */
export function resolve(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(item, names));
  if (typeof value !== 'object' || value === null) return value;
  const path = referenceOf(value);
  if (path !== undefined) return lookUp(path, names);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner, names)]));
}

/** Whether a step is to be done: without a condition, or where what it names is there and is not `false`, `null`, 0 or empty. */
export function isWanted(when: unknown, names: Names): boolean {
  return when === undefined || Boolean(resolve(when, names));
}

function referenceOf(value: object): string | undefined {
  const keys = Object.keys(value);
  const path = keys.length === 1 && keys[0] === '$from' ? (value as { readonly $from: unknown }).$from : undefined;
  return typeof path === 'string' ? path : undefined;
}

function lookUp(path: string, names: Names): unknown {
  let found: unknown = names;
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name))
      throw new ArcpError('INVALID_ARGUMENT', `There is no ${path}: nothing is called ${JSON.stringify(name)} there`);
    found = (found as Scope)[name];
  }
  return found;
}
