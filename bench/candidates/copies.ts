/**
 * Copies of the raw parser of ACCP, each with code of its own: a program parses either with spans or without, and V8
 * optimizes for that. In one copy, both uses would share their code.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Candidate } from '../../src/bench/candidate.js';
import { projectRoot } from '../root.js';
import { load } from './stock-peggy.js';

/** V8's code differs from copy to copy, by more than the measured difference. */
const COPIES = 3;

/** Unmodified. */
export const plain: readonly Candidate[] = copies('plain');

/** With offsets on everything that has a place: nodes, and parameters, which are not nodes. */
export const withSpans: readonly Candidate[] = copies('spans', { options: { spans: true } });

/** With offsets on nodes only. */
export const withNodeSpans: readonly Candidate[] = copies('node-spans', {
  edited: (source) =>
    without(
      source,
      /if \(spans !== true\) return \{ key, value \};\s+const span = [^;]+;\s+return \{ key, value, span \};/,
      'return { key, value };',
    ),
  options: { spans: true },
});

/** Without the guard against deep nesting: the depth is still counted, because the keys of each level are stored by it, but not checked. */
export const unguarded: readonly Candidate[] = copies('unguarded', {
  edited: (source) => without(source, /if \(\+\+depth > maxDepth\)/, '++depth; if (false)'),
});

function without(source: string, code: RegExp, instead: string): string {
  if (!code.test(source)) throw new Error(`generated/accp.js has changed: it does not contain ${code}`);
  return source.replace(code, instead);
}

interface Variant {
  readonly edited?: (source: string) => string;
  readonly options?: object;
}

/** All copies get options, because reading these takes time as well. */
function copies(name: string, { edited = (source) => source, options = { spans: false } }: Variant = {}): Candidate[] {
  return Array.from({ length: COPIES }, (_, index) => ({
    ...{ id: `${name}-${index}`, name: `${name} ${index}`, protocol: 'accp', builds: 'ast' },
    prepare: async () => {
      const { parse } = await load(edited(readFileSync(path.join(projectRoot(), 'generated/accp.js'), 'utf8')));
      return (text) => parse(text, options);
    },
  }));
}
