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

let contraries: ReadonlySet<string> | undefined;

/** A word of one that is the contrary of a word of the other; `null` for none. */
export function contradiction({ telling }: Overlap): string | null {
  contraries ??= readContraries();
  for (const one of telling.missing) {
    for (const other of telling.extra) {
      if (contraries.has(`${one} ${other}`) || isDenied(one, other) || isDenied(other, one)) {
        return `"${one}" against "${other}"`;
      }
    }
  }
  return null;
}

function readContraries(): ReadonlySet<string> {
  const pairs = readTable(ANTONYMS, ';').map((pair) => pair.split(' ').map(keyed));
  return new Set(pairs.flatMap(([one, other]) => [`${one} ${other}`, `${other} ${one}`]));
}

function keyed(word: string): string {
  if (word.endsWith('+ed')) return `${baseOf(word.slice(0, -3))}+ed`;
  return word.includes('-') ? word : baseOf(word);
}

/** "unresolved" against "resolved". */
function isDenied(word: string, denied: string): boolean {
  return PREFIXES.some((prefix) => denied === prefix + word);
}
