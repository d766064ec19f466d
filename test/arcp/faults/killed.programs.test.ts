/** A runtime that is killed while it runs jobs loses and repeats nothing, and its clients receive each message once. */
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { World } from './world.js';

let world: World;
afterEach(() => world.end());

const JOBS = 20;
const STEPS = 60;
/** `npm run test:long` uses ten times as many. */
const KILLS = process.env['LONG_RUNS'] === undefined ? 5 : 50;

/** Starts jobs, and kills their runtime at random times, each time after the jobs have had a new effect. */
async function killWhileWorking(tool: string, kills: number): Promise<unknown[]> {
  world = new World();
  await world.begin();
  const works = Array.from({ length: JOBS }, (_, n) => world.client.invoke(tool, { name: `w${n}`, count: STEPS }));
  const results = Promise.all(works.map((work) => work.result()));
  results.catch(() => {});
  for (let n = 0; n < kills; n++) {
    const before = world.tried().length;
    while (world.tried().length === before && before < JOBS * STEPS) await setTimeout(10);
    await setTimeout(20 + Math.random() * 180);
    await world.replaceRuntime();
  }
  return results;
}

describe('a runtime that is killed during jobs', () => {
  test('ends each job once, with all messages once and in order, and no effect twice', {
    timeout: 600_000,
  }, async () => {
    const results = await killWhileWorking('work', KILLS);
    expect(results).toEqual(Array.from({ length: JOBS }, (_, n) => `w${n} done`));
    expect(await world.problems()).toEqual([]);
    // The jobs were running: most did not end in their first attempt.
    const attempts = world.heard.flatMap((one) => (one.type === 'job.started' ? [one.payload.attempt!] : []));
    expect(Math.max(...attempts)).toBeGreaterThan(1);
    expect(attempts.filter((attempt) => attempt > 1).length).toBeGreaterThan(JOBS / 2);
    // Each step has one effect. An attempt may repeat it if the previous one crashed right after it.
    const tried = world.tried();
    expect(new Set(tried).size).toBe(JOBS * STEPS);
    expect(tried.length - JOBS * STEPS).toBeLessThanOrEqual(world.kills * JOBS);
  });

  test('repeats effects without steps, which the test detects', { timeout: 60_000 }, async () => {
    await killWhileWorking('careless', 2);
    expect(world.tried().length).toBeGreaterThan(JOBS * STEPS);
  });
});
