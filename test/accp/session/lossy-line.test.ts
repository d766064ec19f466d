/** Resends are bounded; nevertheless everything arrives on a line that loses most frames and is interrupted again and again. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sized } from '../../helpers/runs.js';
import { flush } from './steps.js';
import { OTHER, type Side, World } from './world.js';

/** Messages that wait to be sent again. */
const MESSAGES = 60;

/** Whole numbers below `below`, the same for each seed. */
function drawer(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Line {
  readonly draw: (below: number) => number;
  /** Frames of a hundred that get lost. */
  readonly loss: number;
  /** Frames of a hundred after which all that is under way is lost, and the receiver restarts. */
  readonly cuts: number;
}

/** Everything that is under way arrives, or does not. Gives the number of requests for what was left out. */
function carry(world: World, { draw, loss, cuts }: Line): number {
  let asked = 0;
  while (world.ends.a.incoming.length + world.ends.b.incoming.length > 0) {
    for (const side of ['a', 'b'] as const) {
      const text = world.ends[side].incoming.take();
      if (text === undefined) continue;
      const [, from, seq] = /^@a>sync:resync\{from:(\d+)\}.*?,seq:(\d+)/.exec(text) ?? [];
      if (from !== undefined && Number(from) > Number(seq)) asked++;
      if (draw(100) < cuts) cut(world, side);
      else if (draw(100) >= loss) world.arrive(side, text);
    }
  }
  return asked;
}

function cut(world: World, side: Side): void {
  for (const { incoming } of [world.ends.a, world.ends.b]) while (incoming.take() !== undefined);
  world.restart(side);
  world.say(OTHER[side]);
}

test('everything is processed once and in order, however often it is requested', () => {
  let asked = 0;
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 3 }), (seed, loss, cuts) => {
      const draw = drawer(seed);
      const world = new World({ sequence: 'sender', session: { maxOutbox: 4 * MESSAGES } });
      for (let count = 0; count < MESSAGES; count++) world.say('a', { long: count % 20 === 0 });
      for (let round = 0; world.messages.slice(0, MESSAGES).some(({ processed }) => processed === 0); round++) {
        expect(round).toBeLessThan(3 * MESSAGES);
        asked += carry(world, { draw, loss, cuts });
        // On a line that has become still, the next message shows that some are missing.
        world.say('a');
      }
      flush(world, 3000);
      expect(world.unaccounted()).toEqual([]);
      expect(world.ends.a.lost + world.ends.b.lost).toBe(0);
    }),
    { numRuns: sized(8, 200) },
  );
  // The bound was reached, or nothing was shown.
  expect(asked).toBeGreaterThan(0);
});
