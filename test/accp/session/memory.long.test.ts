import process from 'node:process';
import { expect, test } from 'vitest';
import { memoryInUse } from '../../helpers/memory.js';
import { passFrames } from './memory-properties.js';

const FRAMES = 1_000_000;
const MIB = 1024 * 1024;

test.each([false, true])(
  'a million frames through one session leave the memory as it was after half of them (compact: %s)',
  (compact) => {
    const marks = new Map<number, number>();
    passFrames(FRAMES, compact, (frames) => {
      if (![FRAMES / 10, FRAMES / 2, FRAMES - 2].includes(frames)) return;
      const used = memoryInUse();
      marks.set(frames, used);
      process.stdout.write(`${frames} frames: ${(used / MIB).toFixed(1)} MiB in use\n`);
    });
    expect(marks.get(FRAMES - 2)! - marks.get(FRAMES / 2)!).toBeLessThan(4 * MIB);
  },
);
