/** Properties of delivery over a line that loses, repeats, reorders, delays and corrupts frames, as tests of any length. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flush, flushTurns, freeSteps, type Step, turnSteps } from './steps.js';
import { World, type WorldOptions } from './world.js';

/** The maximum number of frames until agreement: without a bound, answers to answers could continue for long. */
const MOST_FRAMES = 3_000;

function holds(steps: fc.Arbitrary<Step>[], options: WorldOptions, numRuns: number, end: (world: World) => void): void {
  let compared = 0;
  fc.assert(
    fc.property(fc.commands(steps, { maxCommands: 60, size: 'max' }), (commands) => {
      const world = new World(options);
      fc.modelRun(() => ({ model: {}, real: world }), commands);
      end(world);
      compared += world.compared;
    }),
    { numRuns },
  );
  if (options.compact === true) expect(compared).toBeGreaterThan(2 * numRuns);
}

/** @param numRuns random courses of events for each property */
export function testDelivery(numRuns: number): void {
  describe('both sides send at any time', () => {
    test('everything is processed once and in order, or reported as expired', () => {
      holds(freeSteps, { sequence: 'sender' }, numRuns, (world) => {
        flush(world, MOST_FRAMES);
        expect(world.unaccounted()).toEqual([]);
        expect(world.ends.a.lost + world.ends.b.lost).toBe(0);
      });
    });

    test('the same holds for compact frames, whose tables both sides keep', () => {
      holds(freeSteps, { sequence: 'sender', compact: true }, numRuns, (world) => {
        flush(world, MOST_FRAMES);
        expect(world.unaccounted()).toEqual([]);
        expect(world.ends.a.lost + world.ends.b.lost).toBe(0);
      });
    });

    test('messages evicted from a small outbox are reported as lost', () => {
      holds(freeSteps, { sequence: 'sender', session: { maxOutbox: 3 } }, numRuns, (world) => {
        flush(world, MOST_FRAMES);
        for (const side of ['a', 'b'] as const) {
          if (world.unaccounted(side).length > 0) expect(world.ends[side].lost).toBeGreaterThan(0);
        }
      });
    });
  });

  describe('both sides send in turn', () => {
    test.each([false, true])(
      'every question and answer is processed once, or reported as overdue (compact: %s)',
      (compact) => {
        holds(turnSteps, { sequence: 'session', compact }, numRuns, (world) => {
          flushTurns(world, MOST_FRAMES);
          const { overdue } = world.ends.a;
          expect(world.unaccounted().filter(({ cid }) => !overdue.has(cid!))).toEqual([]);
          const question = world.messages.findLast(({ from }) => from === 'a')!;
          expect(world.messages.findLast(({ from }) => from === 'b')).toMatchObject({
            cid: question.cid,
            processed: 1,
          });
        });
      },
    );
  });
}
