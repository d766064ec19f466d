/** Negations and contraries: the nearer the rest of two instructions, the worse to take one for the other. */
import type { Analysis } from './analysis.js';
import type { Overlap } from './bags.js';
import { baseOf } from './base-form.js';
import { ANTONYMS } from './lexicon/antonyms.js';
import { readTable } from './lexicon/read.js';

/** Relations that take something away. */
const TAKING: ReadonlySet<string> = new Set(['without', 'except', 'unless', 'instead', 'not']);
const PREFIXES = ['un', 'in', 'im', 'ir', 'dis', 'non', 'de', 'mis'];

/** What one of them denies and the other does not, as a phrase for people; `null` where they deny the same. */
export function otherNegation(pattern: Analysis, instruction: Analysis): string | null {
  const here = negationsOf(pattern);
  const there = negationsOf(instruction);
  if (here.join() === there.join()) return null;
  const lone =
    there.find((one) => !here.includes(one)) ?? here.find((one) => !there.includes(one)) ?? there[0] ?? here[0];
  const [word, of] = (lone ?? '').split(':');
  return of === undefined ? `"${word}"` : `"not ${of}"`;
}

function negationsOf({ actions, contents, relations, slots }: Analysis): readonly string[] {
  const denied = [...actions, ...contents.map(({ key }) => key)].filter((key) => key.startsWith('not:'));
  const taken = [...relations, ...slots.map(({ role }) => role)].filter((relation) => TAKING.has(relation));
  return [...denied, ...taken].sort();
}

let contraries: ReadonlyMap<string, readonly string[]> | undefined;

/** A word of one that is the contrary of a word of the other; `null` for none. */
export function contradiction({ telling }: Overlap, pattern: Analysis, instruction: Analysis): string | null {
  contraries ??= readContraries();
  const [here, there] = [rolesOf(pattern), rolesOf(instruction)];
  const extra = new Set([...telling.extra, ...there.filter((role) => !here.includes(role))]);
  for (const word of [...telling.missing, ...here.filter((role) => !there.includes(role))]) {
    const other = contrariesOf(word, contraries).find((one) => extra.has(one));
    if (other !== undefined) return `"${word}" against "${other}"`;
  }
  return null;
}

/** Relations that values stand in: `over`, `before`. */
function rolesOf({ slots }: Analysis): readonly string[] {
  return slots.map(({ role }) => role);
}

function readContraries(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const pair of readTable(ANTONYMS, ';')) {
    const [one = '', other = ''] = pair.split(' ').map(keyed);
    found.set(one, [...(found.get(one) ?? []), other]);
    found.set(other, [...(found.get(other) ?? []), one]);
  }
  return found;
}

/** Those of the table; and "unresolved" for "resolved", and the other way round. */
function contrariesOf(word: string, table: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const denied = PREFIXES.map((prefix) => prefix + word);
  const affirmed = PREFIXES.filter((prefix) => word.startsWith(prefix)).map((prefix) => word.slice(prefix.length));
  return [...(table.get(word) ?? []), ...denied, ...affirmed];
}

function keyed(word: string): string {
  if (word.endsWith('+ed')) return `${baseOf(word.slice(0, -3))}+ed`;
  return word.includes('-') ? word : baseOf(word);
}
