import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { DisagreementKind } from '../../src/fuzz/differential/oracle.js';
import { sampled } from '../helpers/runs.js';
import { createHunter, type Fault, plantedFaults, SHORT } from './faults/hunt.js';

/** The most texts that are tried. `npm run fuzz:faults` tries more of them, on all faults. */
const COUNT = 2_000;

const FAULTS = plantedFaults();

/** Without hangs, each of which takes the time limit, and with one crash, because each starts the reader again. */
const CHOSEN: readonly [id: string, kind: DisagreementKind][] = [
  ['accp colon-in-text', 'accepts-invalid'],
  ['accp duplicate-keys', 'accepts-invalid'],
  ['accp depth-six', 'accepts-invalid'],
  ['accp key-in-object', 'rejects-valid'],
  ['accp depth-four', 'rejects-valid'],
  ['accp integer-prefix', 'different-tree'],
  ['accp safe-integer-bound', 'different-tree'],
  ['accp map-order', 'different-canonical'],
  ['accp metadata-by-key', 'different-canonical'],
  ['accp half-up', 'different-canonical'],
  ['aacp every-colon', 'different-tree'],
  ['aacp fields-in-object', 'different-tree'],
  ['aacp empty-slot', 'accepts-invalid'],
  ['aacp control-characters', 'accepts-invalid'],
  ['aacp empty-value', 'rejects-valid'],
  ['aacp amount-half-up', 'different-canonical'],
  ['aacp crash-on-empty-key', 'crash'],
];

const hunters = {
  accp: createHunter('accp', { seed: 1, count: COUNT }),
  aacp: createHunter('aacp', { seed: 1, count: COUNT }),
};

function faultOf(name: string): Fault {
  return FAULTS.find(({ protocol, id }) => `${protocol} ${id}` === name)!;
}

describe('planted faults', () => {
  test.each(sampled(CHOSEN, 3))('are found, and shown with a short text: %s', async (name, kind) => {
    const fault = faultOf(name);
    const { finding } = await hunters[fault.protocol](fault);
    expect(finding).toMatchObject({ kind, target: fault.id });
    expect(finding!.input.length).toBeLessThan(SHORT);
  });

  test.each(['accp', 'aacp'] as const)('are the only findings: the correct reader of %s agrees', async (protocol) => {
    const { finding, inputs } = await hunters[protocol]();
    expect(finding?.input).toBeUndefined();
    expect(inputs).toBe(COUNT);
  });

  test.each(FAULTS)('occur once in the reader: $protocol $id', ({ protocol, find, replace }) => {
    const source = readFileSync(new URL(`faults/${protocol}-reader.mjs`, import.meta.url), 'utf8');
    expect(source.split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
  });

  test('are many, and have unique names', () => {
    const names = FAULTS.map(({ protocol, id }) => `${protocol} ${id}`);
    expect(new Set(names).size).toBe(names.length);
    expect(FAULTS.filter(({ protocol }) => protocol === 'accp').length).toBeGreaterThanOrEqual(16);
    expect(FAULTS.filter(({ protocol }) => protocol === 'aacp').length).toBeGreaterThanOrEqual(8);
  });
});
