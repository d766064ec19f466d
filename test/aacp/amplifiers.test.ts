/** The size of outputs: each operation that reports about its input runs with its worst input, and its output is counted. */
import { describe, expect, test } from 'vitest';
import { upgradePacket } from '../../src/aacp/build/index.js';
import { validateAsSdkPy, validateAsSdkTs } from '../../src/aacp/compat.js';
import { sanitizeForPrompt } from '../../src/aacp/dispatch/index.js';
import { encodeStep, lintPacket } from '../../src/aacp/encoders/index.js';
import { createFallbackEncoder } from '../../src/aacp/fallback/index.js';
import { findPackets } from '../../src/aacp/find.js';
import { explainPacket } from '../../src/aacp/index.js';
import { goodReply } from '../helpers/fallback.js';

const HEAD = 'FETCH|HR|return:A|p:1|aacp:1.1';
const keys = Array.from({ length: 20_000 }, (_, index) => `|k${index}:`).join('');

/** Packets that repeat one character, by that character. */
const PACKETS = {
  'empty fields': HEAD + '|'.repeat(50_000),
  'fields without a colon': HEAD + '|x'.repeat(50_000),
  'unknown keys': HEAD + keys,
  'keys in capitals': HEAD + '|P:1'.repeat(20_000),
  'keys without a value': `FETCH|HR${keys}`,
  'invalid periods': HEAD + '|period:x'.repeat(10_000),
  'invalid currencies': HEAD + '|ccy:x'.repeat(10_000),
  'fields that the receiver knows': HEAD + '|fields:x'.repeat(10_000),
  addresses: `${HEAD}|x:${'a@b.cc,'.repeat(10_000)}`,
  'addresses, each in a field': HEAD + '|x:a@b.cc'.repeat(10_000),
  passwords: `${HEAD}|x:${'pwd=x1,'.repeat(10_000)}`,
  'invisible characters': `${HEAD}|x:${'a\u200b'.repeat(20_000)}`,
  'turning characters': `${HEAD}|x:${'\u202e\u200b'.repeat(20_000)}`,
  'a long key': `${HEAD}|${'k'.repeat(50_000)}:${'a@b.cc,'.repeat(5000)}`,
  'ten slots and more': `FETCH|HR|res|2024||json||A|1|1.0${'|'.repeat(20_000)}`,
} as const;

const length = (value: unknown): number => JSON.stringify(value).length;

/** Operations that report about a packet, each with the maximum number of output characters per input character. */
const OPERATIONS: readonly (readonly [name: string, most: number, run: (packet: string) => number])[] = [
  ['lintPacket', 2, (packet) => length(lintPacket(packet, { receiver: { knowsFields: true } }))],
  ['the verdict of the Python SDK', 2, (packet) => length(validateAsSdkPy(packet))],
  ['the verdict of aacp-ts', 2, (packet) => length(validateAsSdkTs(packet))],
  ['the notes of upgradePacket', 2, (packet) => notesOf(packet)],
  ['explainPacket', 30, (packet) => explainPacket(packet).length],
  ['findPackets', 6, (packet) => length(findPackets(`${packet}\n`))],
  ['sanitizeForPrompt', 2, (packet) => sanitizeForPrompt(packet).length],
];

function notesOf(packet: string): number {
  try {
    return length(upgradePacket(packet).notes);
  } catch (thrown) {
    return length(thrown);
  }
}

describe.each(OPERATIONS)('%s: at most %i characters per character', (_name, most, run) => {
  test.each(Object.entries(PACKETS))('of a packet of %s', (_kind, packet) => {
    expect(run(packet) / packet.length).toBeLessThanOrEqual(most);
  });
});

describe('a full list', () => {
  test.each([
    ['lintPacket', () => lintPacket(`${HEAD}${'|ccy:x'.repeat(500)}`), '400 more warnings are not listed.'],
    [
      'the verdict of the Python SDK',
      () => validateAsSdkPy(`${HEAD}${keys}`).warnings,
      '19901 more warnings are not listed.',
    ],
    ['the verdict of aacp-ts', () => validateAsSdkTs(`${HEAD}${keys}`).warnings, '19900 more warnings are not listed.'],
    [
      'upgradePacket',
      () => upgradePacket(PACKETS['ten slots and more']).notes,
      expect.stringMatching(/^\d+ more warnings are not listed\.$/),
    ],
  ])('of %s ends with the number of unlisted findings', (_name, run, last) => {
    const all: readonly unknown[] = run();
    expect(all.length).toBe(101);
    const end = all.at(-1) as string | { readonly message: string };
    expect(typeof end === 'string' ? end : end.message).toEqual(last);
  });

  test('of an encoded step, too', () => {
    const period = 'a@b.cc,'.repeat(5000);
    const [{ diagnostics, packet } = { diagnostics: [], packet: '' }] = [
      encodeStep('PayrollEncoder', 'fetch_employees', { period }, { compat: 'sdk' }),
    ].flat();
    expect([diagnostics.length <= 102, length(diagnostics) / packet.length < 2]).toEqual([true, true]);
  });

  test('of values that an instruction does not state, too', async () => {
    const fields = `filter:${Array.from({ length: 3000 }, (_, index) => `a=${index + 100}`).join(',')}`;
    const model = async (request: Parameters<typeof goodReply>[0]) => goodReply(request, fields);
    const encoder = createFallbackEncoder({ registry: null, rules: null, model });
    const { warnings } = await encoder.encode('Fetch it', { domain: 'HR' });
    expect(warnings.length).toBeLessThanOrEqual(102);
    expect(warnings.at(-1)).toEqual({ code: 'more-findings', message: '2900 more warnings are not listed.' });
  });
});
