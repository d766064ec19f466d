/** Grammars made plainer for languages that lack something. */
import { joined, spelledOut } from './case-variants.js';
import type { CodePointRange, ContextFreeGrammar, Pattern } from './context-free.js';
import { NOTHING, rebuilt } from './patterns.js';

const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;

/** One without its other half, that is: with the flag `u`, two halves are one character. */
const SURROGATE = /\p{Surrogate}/u;

/** Literals whose case is ignored, as sets: what "case" means differs between engines, beyond ASCII and even for `k` and `s`. */
export function withoutCase(grammar: ContextFreeGrammar): ContextFreeGrammar {
  return changed(grammar, (part) => (part.kind === 'literal' && part.ignoreCase ? spelledOut(part.text) : part));
}

/** For engines that read UTF-8, in which there are no surrogates. */
export function withoutSurrogates(grammar: ContextFreeGrammar): ContextFreeGrammar {
  return changed(grammar, (part) => {
    if (part.kind === 'literal') return SURROGATE.test(part.text) ? NOTHING : part;
    return part.kind === 'set' ? { ...part, ranges: plainRanges(part.ranges) } : part;
  });
}

function changed(grammar: ContextFreeGrammar, change: (part: Pattern) => Pattern): ContextFreeGrammar {
  return { ...grammar, rules: new Map([...grammar.rules].map(([name, pattern]) => [name, rebuilt(pattern, change)])) };
}

/** Sets that have both neighbours of the surrogates get them, because one range reads better than two; others lose them. */
function plainRanges(ranges: readonly CodePointRange[]): CodePointRange[] {
  const around = ranges.flatMap(([first, last]): CodePointRange[] => {
    if (last < FIRST_SURROGATE || first > LAST_SURROGATE) return [[first, last]];
    const below: CodePointRange = [first, FIRST_SURROGATE - 1];
    const above: CodePointRange = [LAST_SURROGATE + 1, last];
    return [below, above].filter(([from, to]) => from <= to);
  });
  const bridged =
    around.some(([, last]) => last === FIRST_SURROGATE - 1) && around.some(([first]) => first === LAST_SURROGATE + 1);
  return bridged ? joined([...around, [FIRST_SURROGATE, LAST_SURROGATE]]) : around;
}
