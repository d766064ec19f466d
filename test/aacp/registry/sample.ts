/** Entries to put into registries. */
import { vi } from 'vitest';
import {
  digestOf,
  instructionId,
  normaliseInstruction,
  registryKey,
} from '../../../src/aacp/matching/instruction/normalise.js';
import type { NewEntry } from '../../../src/aacp/registry/registry.js';

/** An entry that a model wrote. The number makes entries different. */
export function sample(number: number | string, changes: Partial<NewEntry> = {}): NewEntry {
  const instruction = `Fetch the records of item ${number}`;
  const request = {
    normalised: normaliseInstruction(instruction),
    domain: 'HR',
    returnAgent: 'HR-Agent',
    priority: '2',
    version: '1.1',
  };
  return {
    ...request,
    key: registryKey(request),
    id: instructionId(request.normalised),
    instruction,
    packet: `FETCH|HR|return:HR-Agent|p:2|aacp:1.1|res:item_${number}`,
    origin: 'model',
    model: 'some-model',
    cost: 0.002,
    terms: ['fetch', 'record', `item${number}`],
    ...changes,
  };
}

/** A key that no sample has. */
export const UNKNOWN = digestOf('nothing');

/** A clock that tests set. */
/** Milliseconds by which all such clocks have moved. */
let passed = 0;

export function handClock(
  start = 1_780_000_000_000,
): (() => number) & { readonly pass: (milliseconds: number) => void } {
  let time = start;
  // The monotonic clock moves with it.
  vi.spyOn(performance, 'now').mockImplementation(() => passed);
  return Object.assign(() => time, {
    pass(milliseconds: number) {
      time += milliseconds;
      passed += milliseconds;
    },
  });
}
