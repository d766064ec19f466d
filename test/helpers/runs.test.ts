/** Each test with a short form has its long form. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { SIZED } from '../../vitest.long.config.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const IMPORT = /^import \{[^}]*\b(?:sized|sampled)\b[^}]*\} from '[./]*\/(?:helpers\/)?runs\.js';$/m;

test('files with a short form are those whose long form runs in npm run test:long', () => {
  const texts = new Map<string, string>();
  for (const name of readdirSync(path.join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })) {
    if (name.endsWith('.ts')) texts.set(path.join('test', name), readFileSync(path.join(ROOT, 'test', name), 'utf8'));
  }
  const hasSizes = [...texts.keys()].filter((name) => IMPORT.test(texts.get(name)!));
  expect(hasSizes.length).toBeGreaterThan(10);
  /** Also the files that import one of those. */
  const sized = [...texts.keys()].filter(
    (name) =>
      hasSizes.includes(name) ||
      hasSizes.some((helper) => {
        const module = path.relative(path.dirname(name), helper).replace(/\.ts$/, '.js');
        return texts.get(name)!.includes(`from '${module.startsWith('.') ? module : `./${module}`}'`);
      }),
  );
  const tests = sized.filter((name) => /(?<!\.long)\.test\.ts$/.test(name));
  // Streams run in their long form as a folder.
  expect(tests.filter((name) => !name.startsWith('test/accp/streams/')).sort()).toEqual([...SIZED].sort());
});
