import { describe, expect, test } from 'vitest';
import { accpLanguage } from '../../../src/accp/language/language.js';
import { type ShrinkOptions, shrinkText } from '../../../src/fuzz/differential/shrink.js';

const { grammar } = accpLanguage();

/** Returns the smallest text, and the number of texts that were tried and that reproduced. */
async function shrunk(
  text: string,
  isShown: (text: string) => boolean,
  options: Partial<ShrinkOptions> = {},
): Promise<{ readonly text: string; readonly tries: number; readonly held: number }> {
  let tries = 0;
  let held = 0;
  const holds = async (one: string): Promise<boolean> => {
    tries++;
    if (isShown(one)) held++;
    return isShown(one);
  };
  return { text: await shrinkText(text, { grammar, ...options, reproduces: holds }), tries, held };
}

const isBalanced = (text: string): boolean => text.split('[').length === text.split(']').length;

describe('shrinkText', () => {
  test('removes brackets in pairs, even in invalid texts', async () => {
    const { text } = await shrunk('@a>a:a{a:[[\x7f]]}', (one) => isBalanced(one) && one.includes('\x7f'));
    expect(text).toBe('\x7f');
  });

  test('removes whole words with their separators', async () => {
    const { text } = await shrunk('alpha=1;beta=2;gamma=3', (one) => /^(\w+=\d(;|$))+$/.test(one) && /3$/.test(one));
    expect(text).toMatch(/^[a0]=3$/);
  });

  test('halves long runs', async () => {
    const { text, tries } = await shrunk(`@a>a:a{a:${'7'.repeat(3_000)}}`, (one) => /^@a>a:a\{a:\d{5,}\}$/.test(one));
    expect(text).toBe('@a>a:a{a:00000}');
    expect(tries).toBeLessThan(2_000);
  });

  test('keeps required repetitions, and makes the rest plain', async () => {
    const keys = (one: string): number => new Set([...one.matchAll(/(\w+):/g)].map(([, key]) => key)).size;
    const text = '@G2>N:_{iOR:_l|_:~|K4:~|zz0:[1,2]|m:~|aid:{}|P:Y|Yx:~|_6:e|D:X}';
    const smallest = await shrunk(text, (one) => grammar.accepts(one) && keys(one) >= 11);
    expect(smallest.text).toMatch(/^@\w>\w:\w\{(\w:[a~](\||\})){10}$/);
  });

  test('respects the limits of tries and of concurrency', async () => {
    const whole = 'x'.repeat(500);
    const one = await shrunk(whole, (text) => text.length > 100, { concurrency: 1 });
    const many = await shrunk(whole, (text) => text.length > 100, { concurrency: 16 });
    expect(one.text).toBe(many.text);
    expect(one.tries).toBeLessThan(many.tries);
    let tries = 0;
    const short = await shrunk(whole, (text) => text.length > 100, { concurrency: 1, shouldStop: () => ++tries > 2 });
    expect(short.tries).toBe(2);
    expect(short.text.length).toBeLessThan(whole.length);
  });
});
