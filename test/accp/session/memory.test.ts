import { expect, test } from 'vitest';
import { passFrames } from './memory-properties.js';

test.each([false, true])(
  'a session keeps the last of everything, however many frames there were (compact: %s)',
  (compact) => {
    const few = passFrames(2_000, compact);
    const many = passFrames(4_000, compact);
    expect([many.get('a.compact-strings'), many.get('a.compact-shapes')]).toEqual(
      compact ? [512, 128 + 1] : [undefined, undefined],
    );
    expect(many.get('a.seen')).toBe(256);
    expect(many.get('a.outbox')).toBe(64);
    expect(many.get('a.chains')).toBe(128);
    for (const [collection, count] of many) {
      // Hot state is somewhere between two checkpoints.
      if (collection.endsWith('.state.frames')) expect(count).toBeLessThan(64);
      else expect([collection, count]).toEqual([collection, few.get(collection)]);
    }
  },
);
