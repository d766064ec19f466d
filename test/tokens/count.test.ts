import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { estimateTokens } from '../../src/tokens/counter.js';
import { countTokens, ENCODINGS, type Encoding } from '../../src/tokens/load-counter.js';

const FRAME = '@research>done:analyze{d:q3_sales|nx:\\@strategy\\:plan}[mid:49679033e07c,seq:3,ts:1714000000]';

test('counts are exact, by default in the vocabulary of current models', async () => {
  expect(await countTokens('hello world')).toStrictEqual({ tokens: 2, exact: true, encoding: 'o200k_base' });
  expect(await countTokens('')).toStrictEqual({ tokens: 0, exact: true, encoding: 'o200k_base' });
});

test.each(ENCODINGS)('%s is supported', async (encoding) => {
  const count = await countTokens(FRAME, encoding);
  expect(count).toMatchObject({ exact: true, encoding });
  expect(count.tokens).toBeGreaterThan(20);
  expect(count.tokens).toBeLessThan(FRAME.length);
});

test('vocabularies differ', async () => {
  const [newer, older] = await Promise.all([
    countTokens('Größenordnung 日本語'),
    countTokens('Größenordnung 日本語', 'r50k_base'),
  ]);
  expect(newer.tokens).toBeLessThan(older.tokens);
});

test('special tokens count as ordinary text', async () => {
  expect((await countTokens('a <|endoftext|> b')).tokens).toBe(9);
});

test('an unknown encoding is rejected with a suggestion', async () => {
  await expect(countTokens('a', 'o200k_bas' as Encoding)).rejects.toThrow(/did you mean 'o200k_base'\?$/);
});

test('without the package, counts are estimates and marked as such', () => {
  const missing = `export async function resolve(name, context, next) {
    if (!name.startsWith('gpt-tokenizer')) return next(name, context);
    throw Object.assign(new Error('missing'), { code: 'ERR_MODULE_NOT_FOUND' });
  }`;
  const hide = `import { register } from 'node:module'; register('data:text/javascript,${encodeURIComponent(missing).replaceAll("'", '%27')}');`;
  const count = new URL('../../src/tokens/load-counter.ts', import.meta.url);
  const program = `const { countTokens } = await import(${JSON.stringify(count.href)});
    console.log(JSON.stringify(await countTokens(${JSON.stringify(FRAME)})));`;
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const hiding = `data:text/javascript,${encodeURIComponent(hide)}`;
  const output = execFileSync(process.execPath, [
    '--import',
    tsx,
    '--import',
    hiding,
    '--input-type=module',
    '-e',
    program,
  ]);
  expect(JSON.parse(output.toString())).toStrictEqual({
    tokens: estimateTokens(FRAME),
    exact: false,
    encoding: 'o200k_base',
  });
});
