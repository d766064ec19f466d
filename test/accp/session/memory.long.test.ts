import process from 'node:process';
import { expect, test } from 'vitest';
import { heapUsed, passFrames } from './memory-properties.js';

const FRAMES = 1_000_000;
const MIB = 1024 * 1024;

test('a million frames through one session leave the heap as it was after half of them', () => {
  const marks = new Map<number, number>();
  passFrames(FRAMES, (frames) => {
    if (![FRAMES / 10, FRAMES / 2, FRAMES - 2].includes(frames)) return;
    const heap = heapUsed();
    marks.set(frames, heap);
    const rss = process.memoryUsage().rss;
    process.stdout.write(`${frames} frames: heap ${(heap / MIB).toFixed(1)} MiB, RSS ${(rss / MIB).toFixed(1)} MiB\n`);
  });
  expect(marks.get(FRAMES - 2)! - marks.get(FRAMES / 2)!).toBeLessThan(4 * MIB);
});
