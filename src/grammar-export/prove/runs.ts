/** Regular parts in a row are made one part, so that they can be looked at together. */
import { type Peg, type PegRules, pegReferencesOf } from '../read/peg.js';

/** The same grammar; each part of it stands once, and can be told from all others. */
export function withRuns(rules: PegRules, isRegular: (peg: Peg) => boolean): PegRules {
  const grouped = (peg: Peg): Peg => {
    if (peg.kind === 'repeat' || peg.kind === 'lookahead') return { ...peg, item: grouped(peg.item) };
    if (peg.kind === 'choice') return { ...peg, items: peg.items.map(grouped) };
    if (peg.kind !== 'sequence') return { ...peg };
    const items = peg.items.map(grouped);
    // Where all are regular, the sequence is one such part by itself.
    return {
      kind: 'sequence',
      items: pegReferencesOf(peg).length > 0 && !isRegular(peg) ? runsOf(items, isRegular) : items,
    };
  };
  return new Map([...rules].map(([name, peg]) => [name, grouped(peg)]));
}

function runsOf(items: readonly Peg[], isRegular: (peg: Peg) => boolean): readonly Peg[] {
  const made: Peg[] = [];
  let run: Peg[] = [];
  const close = (): void => {
    if (run.length > 0) made.push(run.length === 1 ? run[0]! : { kind: 'sequence', items: run });
    run = [];
  };
  for (const item of items) {
    if (isRegular(item)) {
      run.push(item);
    } else {
      close();
      made.push(item);
    }
  }
  close();
  return made;
}
