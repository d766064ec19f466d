import { expect, test } from 'vitest';
import { createCodec, createSession, memoryStore } from '../../../src/accp/codec/index.js';
import { memoryInUse } from '../../helpers/memory.js';

test('100,000 senders and 100,000 chains leave a session as small as a tenth of them', () => {
  const codec = createCodec({ now: () => 1_714_000_000_000, text: 'transliterate' });
  const session = createSession({ agent: 'b', id: 's', sequence: 'sender', store: memoryStore({ maxCold: 100_000 }) });
  let used = 0;
  for (let index = 0; index < 100_000; index++) {
    if (index === 10_000) used = memoryInUse();
    codec.decode(`@agent${index}>req:x{}[mid:m${index},seq:1,cid:c${index}]`, session);
    codec.decode(`@agent0>req:x{}[mid:n${index},seq:${index + 2},cid:d${index}]`, session);
  }
  expect(memoryInUse() - used).toBeLessThan(8 * 1024 * 1024);
});
