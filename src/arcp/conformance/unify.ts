import { isRecord } from '../../text/guards.js';

/** Whether a message says what another one has said, where both have names of their own for the same things. */

/** Members whose values are of their time and place: nobody can say the same. */
const PASSING =
  /(?:^|_)(?:at|timestamp|token|duration_ms|start_time|end_time|deadline_ms|queue_position|digest|sha256)$|^version$/;
/** Members whose values are names. */
const NAMING = /(?:^id$|_id$|_for$|^worker$|^up_to$|^version$)/;
/** Names as runtimes make them, wherever they stand. */
const NAME = /^[a-z]+_[0-9A-Za-z]+$/;

/** What is called otherwise this time, by what it was called then. */
export class Names {
  readonly #now = new Map<string, string>();
  readonly #taken = new Set<string>();

  set(then: string, now: string): void {
    this.#now.set(then, now);
    this.#taken.add(now);
  }

  get(then: string): string | undefined {
    return this.#now.get(then);
  }

  /** @returns whether both may be called so */
  bind(then: string, now: string): boolean {
    const known = this.#now.get(then);
    if (known !== undefined) return known === now;
    if (this.#taken.has(now)) return then === now;
    this.set(then, now);
    return true;
  }

  /** A value with the names of this time, also where they are part of a text. */
  renamed<T>(value: T): T {
    if (typeof value === 'string') return this.#inText(value) as T;
    if (Array.isArray(value)) return value.map((item) => this.renamed(item)) as T;
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.renamed(item)])) as T;
  }

  #inText(text: string): string {
    return this.#now.get(text) ?? text.replace(/[a-z]+_[0-9A-Za-z]+/g, (part) => this.#now.get(part) ?? part);
  }
}

/**
 * The first place where two values are not the same but for their names; names that were not known are bound.
 *
 * @returns `undefined` where they are
 */
export function difference(then: unknown, now: unknown, names: Names, path = ''): string | undefined {
  const member = path.slice(path.lastIndexOf('.') + 1);
  if (PASSING.test(member)) return undefined;
  if (typeof then === 'string' && typeof now === 'string') return differentText(then, now, names, path, member);
  if (Array.isArray(then) && Array.isArray(now)) {
    if (then.length !== now.length) return `${path} has ${now.length} items, and had ${then.length}`;
    return first(then.keys(), (at) => difference(then[at], now[at], names, `${path}[${at}]`));
  }
  if (isRecord(then) && isRecord(now)) {
    const members = new Set([...Object.keys(then), ...Object.keys(now)]);
    return first(members, (name) => difference(then[name], now[name], names, path === '' ? name : `${path}.${name}`));
  }
  return then === now ? undefined : `${path} is ${shown(now)}, and was ${shown(then)}`;
}

function differentText(then: string, now: string, names: Names, path: string, member: string): string | undefined {
  if (names.renamed(then) === now) return undefined;
  const isName = NAMING.test(member) || (NAME.test(then) && NAME.test(now));
  return isName && names.bind(then, now)
    ? undefined
    : `${path} is ${shown(now)}, and was ${shown(names.renamed(then))}`;
}

function first<T>(items: Iterable<T>, find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : (JSON.stringify(value) ?? String(value)).slice(0, 100);
}
