import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { analyzeEffects } from '../../../src/peggy-fast/effects/analyze.js';
import { codeOf } from './grammar-code.js';

const root = new URL('../../../', import.meta.url);

function grammarsIn(directory: string, extension: string): URL[] {
  const names = readdirSync(fileURLToPath(new URL(directory, root))).filter((name) => name.endsWith(extension));
  return names.map((name) => new URL(`${directory}/${name}`, root));
}

const grammars = [...grammarsIn('node_modules/pegjs/examples', '.pegjs'), ...grammarsIn('grammar', '.peggy')];

/** Scratch memory of our own grammars, and functions that they never call with an invalid argument. */
const PURE = ['BigInt', 'keys', 'past', 'codes'];

test('there are grammars to test', () => expect(grammars.length).toBeGreaterThanOrEqual(6));

test.each(grammars.map((url) => [url.pathname.split('/').at(-1), url]))('%s is pure', (_, url) => {
  const code = codeOf(readFileSync(url, 'utf8'), PURE);
  const { violations, unsupported, effects } = analyzeEffects(code);
  expect(violations).toEqual([]);
  expect(unsupported).toEqual([]);
  expect(effects.size).toBe(code.blocks.length);
});
