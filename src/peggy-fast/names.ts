/** Names in the generated code. They end in a dollar sign; a grammar that uses such names itself is left to Peggy. */
import type { Program } from 'acorn';
import { nodesIn } from './effects/syntax.js';

export const INPUT = 'input';
export const BYTES = 'bytes$';
export const AT = 'at$';
/** The end of the rule that returned last. */
export const END_AT = 'end$';
export const FAILED = 'FAILED$';
/** The replacement of `input.charCodeAt`. */
export const CODE_AT = 'codeAt$';

/** The names that the generated code declares: numbered variables, functions of rules, and the rest. */
const GENERATED_NAMES = /\$(?:\d+|build|skip|expect|silent|code\d+)$|^(?:table|ends|sets|points)\d+\$$/;
const RUNTIME: ReadonlySet<string> = new Set(
  `ascii at begin build busy bytes capacity characters close codeAt collected decided decoder encoder end escaped expect expectations expected
    failure fault from furthest isFor isInternal kindOf kindTable kinds length library lines load locationOf log masks miss missed misses open
    parse pointWidth quiet recognize rule runEnd scan skip source startRules to tryParse view views wordAt wordEnds wordStarts words FAILED
    NO_OPTIONS`
    .split(/\s+/)
    .map((name) => `${name}$`),
);

export function clashingName(program: Program, labels: ReadonlySet<string> = new Set()): string | undefined {
  for (const node of nodesIn(program)) {
    if (node.type !== 'Identifier' || labels.has(node.name)) continue;
    if (GENERATED_NAMES.test(node.name) || RUNTIME.has(node.name)) return node.name;
  }
  return undefined;
}

export class Names {
  readonly #taken = new Map<string, number>();

  fresh(stem: string): string {
    const count = (this.#taken.get(stem) ?? 0) + 1;
    this.#taken.set(stem, count);
    return `${stem}$${count}`;
  }
}
