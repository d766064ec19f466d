import { execFileSync } from 'node:child_process';
import process from 'node:process';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { moduleAt } from './hidden-packages.js';

const PACKET = 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary';

/** Returns the result of the counter in a child process, after the given code. */
function counted(before: string): unknown {
  const program = `
    ${before}
    const { installedCounter } = await import(${moduleAt('src/tokens/installed-counter.ts')});
    const { count, exact, encoding } = installedCounter();
    console.log(JSON.stringify({ tokens: count(${JSON.stringify(PACKET)}), exact, encoding }));`;
  const output = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program]);
  return JSON.parse(output.toString());
}

test('counts exactly and synchronously', () => {
  expect(counted('')).toEqual({ tokens: countTokens(PACKET), exact: true, encoding: 'o200k_base' });
});

test('returns estimates, marked as such, if it cannot require modules, as in a browser', () => {
  const { exact, encoding } = counted('process.getBuiltinModule = undefined;') as { exact: boolean; encoding: string };
  expect({ exact, encoding }).toEqual({ exact: false, encoding: 'estimate' });
});

test('is exact there after the vocabulary has been loaded', () => {
  const before = `
    process.getBuiltinModule = undefined;
    const { loadTokenCounter } = await import(${moduleAt('src/tokens/load-counter.ts')});
    await loadTokenCounter();`;
  expect(counted(before)).toEqual({ tokens: countTokens(PACKET), exact: true, encoding: 'o200k_base' });
});
