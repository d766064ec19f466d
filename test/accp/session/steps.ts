/** Random steps of two endpoints and of the line between them, as commands that can be shortened. */
import fc from 'fast-check';
import type { Spoil } from '../../helpers/faulty-channel.js';
import { SPOILS } from '../../helpers/faulty-channel.js';
import type { Side, Speech, World } from './world.js';

/** The model needs no data: the books are kept by the world. */
type Model = object;

export type Step = fc.Command<Model, World>;

function step(name: string, run: (world: World) => void, check: (world: World) => boolean = () => true): Step {
  // What is possible depends on the real line, which `check` is not given; so a step that is not possible does nothing.
  return {
    check: () => true,
    run: (_model, world) => {
      if (check(world)) run(world);
    },
    toString: () => name,
  };
}

function onLine(name: string, to: Side, run: (world: World) => void): Step {
  return step(`${name} on the line to ${to}`, run, (world) => world.ends[to].incoming.length > 0);
}

const sides = fc.constantFrom<Side>('a', 'b');
const places = fc.nat(7);
const spoils = fc.constantFrom(...(Object.keys(SPOILS) as Spoil[]));

/** The steps of both modes: faults, time, and restarts. */
const faults: readonly fc.Arbitrary<Step>[] = [
  fc.tuple(sides, places).map(([to, at]) => onLine(`drop ${at}`, to, ({ ends }) => ends[to].incoming.drop(at))),
  fc.tuple(sides, places).map(([to, at]) => onLine(`repeat ${at}`, to, ({ ends }) => ends[to].incoming.repeat(at))),
  fc
    .tuple(sides, places, places)
    .map(([to, from, at]) => onLine(`move ${from} to ${at}`, to, ({ ends }) => ends[to].incoming.move(from, at))),
  fc
    .tuple(sides, places, spoils, fc.nat(200))
    .map(([to, place, how, at]) =>
      onLine(`spoil ${place} (${how} at ${at})`, to, ({ ends }) => ends[to].incoming.spoil(place, how, at)),
    ),
  fc.constantFrom(1, 5, 40).map((seconds) => step(`wait ${seconds} s`, (world) => world.wait(seconds))),
  sides.map((side) => step(`restart ${side}`, (world) => world.restart(side))),
];

const arrivals = fc.tuple(sides, fc.integer({ min: 1, max: 5 })).map(([to, count]) =>
  step(`deliver ${count} to ${to}`, (world) => {
    for (let left = count; left > 0; left--) world.deliver(to);
  }),
);

const speeches: fc.Arbitrary<Speech> = fc.record(
  {
    ttl: fc.constantFrom(0, 3, 30),
    long: fc.constant(true),
  },
  { requiredKeys: [] },
);

/** Both sides speak when they like, as one agent or as two. */
export const freeSteps: fc.Arbitrary<Step>[] = [
  fc.tuple(sides, speeches, fc.boolean()).map(([from, speech, second]) => {
    const agent = second ? `${from}2` : from;
    return step(`${agent} says ${JSON.stringify(speech)}`, (world) => {
      world.say(from, { ...speech, agent });
    });
  }),
  sides.map((from) => step(`${from} speaks`, (world) => void world.say(from))),
  arrivals,
  arrivals,
  ...faults,
];

/** One side asks, the other one answers, and the one that asks does so again when nothing has come in time. */
export const turnSteps: fc.Arbitrary<Step>[] = [
  fc.constant(step('a asks', (world) => ask(world, false))),
  fc.constant(step('a asks again', (world) => ask(world, true))),
  fc.constant(step('b answers', answer)),
  arrivals,
  arrivals,
  ...faults,
];

/** The question whose answer has not come to a: one that it may ask again. */
function unanswered(world: World): string | undefined {
  const asked = world.messages.findLast(({ from }) => from === 'a');
  const isAnswered = world.messages.some(({ from, cid, processed }) => {
    return from === 'b' && cid === asked?.cid && processed > 0;
  });
  return isAnswered ? undefined : asked?.cid;
}

/** The question that b has processed last, if it has not answered that one. */
function unsettled(world: World): string | undefined {
  const asked = world.messages.findLast(({ from, processed }) => from === 'a' && processed > 0);
  return asked === undefined || asked.number <= world.settled ? undefined : asked.cid;
}

export function ask(world: World, again: boolean): void {
  const open = unanswered(world);
  if (open === undefined) world.say('a', { intent: 'req', cid: `q${world.messages.length + 1}` });
  else if (again) {
    world.wait(61);
    world.say('a', { intent: 'req', cid: open });
  }
}

export function answer(world: World): void {
  const cid = unsettled(world);
  if (cid === undefined) return;
  world.settled = world.messages.findLast(({ from, processed }) => from === 'a' && processed > 0)!.number;
  world.say('b', { intent: 'done', cid });
}

/** Words exchanged without faults, until both sides agree. Gives the number of frames that it took. */
export function flush(world: World, most: number): number {
  let frames = world.drain(most);
  for (let round = 0; round < 3; round++) {
    for (const from of ['a', 'b'] as const) {
      for (const agent of [from, `${from}2`]) world.say(from, { agent });
    }
    frames += world.drain(most);
  }
  return frames;
}

/** Questions and answers without faults: what was asked is asked again until the answer comes. */
export function flushTurns(world: World, most: number): number {
  let frames = world.drain(most);
  for (let round = 0; round < 4; round++) {
    ask(world, true);
    frames += world.drain(most);
    answer(world);
    frames += world.drain(most);
  }
  return frames;
}
