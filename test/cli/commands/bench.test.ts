import { describe, expect, test } from 'vitest';
import type { Section } from '../../../src/bench/result.js';
import { cli, jsonLines, scratchFolder } from '../../helpers/cli.js';

const scratch = scratchFolder();

const MESSAGES = [
  { role: 'user', content: 'Is 48.20 right, or 4,820?', tags: ['billing'] },
  { intent: 'req', operation: 'tool', schema: 'TC', payload: { tool_name: 'search', arguments: { q: 'revenue' } } },
  { intent: 'req', operation: 'tool', note: 'a payload, since a message has no such member' },
  { deep: { deep: { deep: { deep: { deep: { deep: { deep: 1 } } } } } } },
];

const STATE = { intent: 'sync', operation: 'state' };

function corpus(name: string, lines: readonly string[]): string {
  return scratch.write(name, lines.map((line) => `${line}\n`).join(''));
}

describe('pegwire bench --corpus', () => {
  test('measures the messages of a file in all notations', async () => {
    const file = corpus(
      'messages.jsonl',
      MESSAGES.map((message) => JSON.stringify(message)),
    );
    const { code, stdout } = await cli(['bench', '--corpus', file, '--duration', '200ms', '--json']);
    expect(code).toBe(0);
    const [, sizes, reading, writing] = jsonLines(stdout) as unknown as [unknown, Section, Section, Section];
    expect(sizes.kind === 'facts' && sizes.rows.map(([name, texts]) => [name, texts])).toEqual([
      ['JSON', 4],
      ['JSON without envelope', 4],
      ['TOON', 4],
      ['frames', 4],
    ]);
    const [json, without] = sizes.kind === 'facts' ? sizes.rows.map(([, , characters]) => Number(characters)) : [];
    expect(json).toBeGreaterThan(without!);
    const plain = MESSAGES.reduce((sum, message) => sum + JSON.stringify(message).length, 0);
    expect(sizes.kind === 'facts' && sizes.rows[1]![2]).toBe(plain);
    const names = (section: Section): string[] =>
      section.kind === 'race' ? section.groups[0]!.results.map(({ name }) => name) : [];
    expect(names(reading)).toEqual([
      ...['JSON.parse', 'JSON.parse + zod', 'TOON decode', 'pegwire parseFrame', 'pegwire session decode'],
    ]);
    expect(names(writing)).toEqual([
      ...['JSON.stringify', 'TOON encode', 'pegwire printFrame', 'pegwire session encode'],
    ]);
  });

  test.each([
    ['a line that is not JSON', ['{"a":1}', '{'], 'line 2 is not a JSON object'],
    ['a line that is not an object', ['[1]'], 'line 1 is not a JSON object'],
    ['no line', [], 'there are no messages'],
    [
      'messages that a session cannot receive again',
      [1, 2].map((version) => JSON.stringify({ ...STATE, payload: { version, state: { a: version } } })),
      'line 1: ',
    ],
    ['a message that the codec refuses', ['{"a":1}', '{"intent":"nope","operation":"x"}'], 'line 2: intent: unknown'],
  ])('rejects %s', async (name, lines, reason) => {
    const { code, stderr } = await cli(['bench', '--corpus', corpus(`${name}.jsonl`, lines), '--duration', '50ms']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(reason) as string });
  });

  test('rejects another protocol', async () => {
    const file = corpus('one.jsonl', ['{"a":1}']);
    const { code, stderr } = await cli(['bench', 'aacp', '--corpus', file]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('ACCP frames only') as string });
  });
});
