/** The raw parser of ACCP, and the same without its guard against deep nesting: what that costs. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Candidate } from '../../src/bench/candidate.js';
import { projectRoot } from '../root.js';
import { load } from './stock-peggy.js';

const GUARD = 'if (++depth > maxDepth)';

/** A copy of its own of each: V8 makes code for one of them only. */
export const guarded: Candidate = copy('guarded', 'with the depth guard', (source) => source);

/** Keeps count, since the keys of each level have a place of their own, but never looks at it. */
export const unguarded: Candidate = copy('unguarded', 'without it', (source) => {
  if (!source.includes(GUARD)) throw new Error(`generated/accp.js has changed: there is no "${GUARD}"`);
  return source.replace(GUARD, '++depth; if (false)');
});

function copy(id: string, name: string, edited: (source: string) => string): Candidate {
  return {
    ...{ id, name, protocol: 'accp', builds: 'ast' },
    prepare: async () => {
      const { parse } = await load(edited(readFileSync(path.join(projectRoot(), 'generated/accp.js'), 'utf8')));
      return (text) => parse(text);
    },
  };
}
