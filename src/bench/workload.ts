import type { Ready, Sample } from './candidate.js';
import type { Runner } from './race.js';

/** Makes a runner that handles every value once: reads texts, prints trees. */
export function handling<Value>(name: string, handle: (value: Value) => unknown, values: readonly Value[]): Runner {
  return { name, pass: () => handleAll(handle, values) };
}

function handleAll<Value>(handle: (value: Value) => unknown, values: readonly Value[]): number {
  let done = 0;
  for (let index = 0; index < values.length; index++) if (handle(values[index]!) !== undefined) done++;
  return done;
}

export async function inputsOf({ candidate }: Ready, samples: readonly Sample[]): Promise<string[]> {
  const { input } = candidate;
  // Flat copies, because some parsers read slices of longer texts slowly.
  return Promise.all(samples.map(async (sample) => flat(await (input === undefined ? sample.text : input(sample)))));
}

/** Copies a text into contiguous memory, as it comes from a socket. */
export function flat(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

export async function readers(candidates: readonly Ready[], samples: readonly Sample[]): Promise<Runner[]> {
  return Promise.all(
    candidates.map(async (one) => handling(one.candidate.name, one.read, await inputsOf(one, samples))),
  );
}
