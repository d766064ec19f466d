/** A string that needs more memory to escape at once than V8 has for a list. */
import { expect, test } from 'vitest';
import { printFrame } from '../../src/accp/index.js';

test('a string of more delimiters than V8 lists at once', () => {
  const count = 1 << 26;
  const text = printFrame({
    ...{ kind: 'frame', agent: 'a', intent: 'req', operation: 'x', metadata: null },
    payload: [{ key: 'k', value: { kind: 'string', value: `a${':'.repeat(count)}` } }],
  });
  expect(text.length).toBe('@a>req:x{k:a}'.length + 2 * count);
  expect(text.endsWith('\\:\\:\\:}')).toBe(true);
});
