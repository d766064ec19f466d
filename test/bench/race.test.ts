/** The race, on a clock that only advances with the work: no time is measured here. */
import { describe, expect, test } from 'vitest';
import { quantile, type Runner, race, spreadOf } from '../../src/bench/race.js';

/** Runners that take a number of milliseconds per pass, and the order in which they ran. */
function clockwork(costs: Readonly<Record<string, number | (() => number)>>) {
  let time = 0;
  const order: string[] = [];
  const runners: Runner[] = Object.entries(costs).map(([name, cost]) => ({
    name,
    pass: () => {
      order.push(name);
      time += typeof cost === 'number' ? cost : cost();
      return time;
    },
  }));
  return { runners, order, now: () => time };
}

describe('a race', () => {
  test('returns the speed of each runner relative to the anchor', async () => {
    const { runners, now } = clockwork({ slow: 1, fast: 0.25, anchor: 0.5 });
    const results = await race(runners, { anchor: 'anchor', rounds: 5, turnMs: 2, warmUpMs: 10, now });
    expect(results.map(({ name, ratio }) => [name, ratio.median])).toEqual([
      ['slow', 0.5],
      ['fast', 2],
      ['anchor', 1],
    ]);
    expect(results.map(({ nanoseconds }) => Math.round(nanoseconds.median))).toEqual([1_000_000, 250_000, 500_000]);
  });

  test('fills a turn with passes, and at least one', async () => {
    const { runners, now } = clockwork({ quick: 0.01, long: 50 });
    const results = await race(runners, { anchor: 'quick', rounds: 3, turnMs: 2, warmUpMs: 1, now });
    expect(results.map(({ passes }) => passes)).toEqual([200, 1]);
  });

  test('starts each round with another runner', async () => {
    const { runners, order, now } = clockwork({ a: 5, b: 5, c: 5 });
    const rounds: string[] = [];
    const onRound = (done: number): void => {
      // Every pass of these takes longer than a turn, so that a round has one of each.
      rounds.push(order.splice(0).join(''));
      expect(done).toBe(rounds.length - 1);
    };
    await race(runners, { anchor: 'a', rounds: 6, turnMs: 1, warmUpMs: 0, now, onRound });
    const [, ...played] = rounds;
    expect(played).toHaveLength(6);
    for (const round of played) expect([...round].toSorted().join('')).toBe('abc');
    expect(new Set(played.map(([first]) => first)).size).toBe(3);
  });

  test('computes the ratio per round, so that a slow minute affects no runner', async () => {
    let load = 1;
    const { runners, now } = clockwork({ anchor: () => 4 * load, half: () => 2 * load });
    const onRound = (done: number): void => {
      load = done % 2 === 0 ? 1 : 30;
    };
    const [, half] = await race(runners, { anchor: 'anchor', rounds: 9, turnMs: 1, warmUpMs: 0, now, onRound });
    expect(half!.ratio).toEqual({ median: 2, low: 2, high: 2 });
    expect(half!.nanoseconds.high).toBeGreaterThan(half!.nanoseconds.low);
  });

  test('prepares as much as is run, outside of the measured time', async () => {
    let time = 0;
    let stock = 0;
    const runners: Runner[] = [
      { name: 'anchor', pass: () => (time += 1) },
      {
        name: 'fresh',
        prepare: (passes) => {
          time += 100 * passes;
          // A remainder would be stale.
          expect(stock).toBe(0);
          stock = passes;
        },
        pass: () => {
          stock--;
          time += 0.5;
        },
      },
    ];
    const [, fresh] = await race(runners, { anchor: 'anchor', rounds: 5, turnMs: 2, warmUpMs: 5, now: () => time });
    expect(fresh!.ratio.median).toBe(2);
    expect(stock).toBe(0);
  });

  test('requires its anchor', async () => {
    const { runners, now } = clockwork({ a: 1 });
    await expect(race(runners, { anchor: 'b', now })).rejects.toThrow('the anchor "b" is not one of the runners');
  });
});

describe('quantiles', () => {
  test('of an odd number of values are values', () => {
    expect(spreadOf([5, 1, 4, 2, 3])).toEqual({ median: 3, low: 2, high: 4 });
  });

  test('lie between two values in proportion', () => {
    expect(spreadOf([1, 2, 3, 4])).toEqual({ median: 2.5, low: 1.75, high: 3.25 });
    expect(quantile([10, 20], 0.9)).toBeCloseTo(19);
  });

  test('of one value are that value', () => {
    expect(spreadOf([7])).toEqual({ median: 7, low: 7, high: 7 });
  });

  test('order numbers as numbers', () => {
    expect(spreadOf([100, 9, 20]).median).toBe(20);
  });

  test('are not affected by one outlier, and leave the list unchanged', () => {
    const values = [2, 2, 2, 2, 1000];
    expect(spreadOf(values)).toEqual({ median: 2, low: 2, high: 2 });
    expect(values).toEqual([2, 2, 2, 2, 1000]);
  });

  test('of an empty list are an error', () => {
    expect(() => spreadOf([])).toThrow(RangeError);
  });
});
