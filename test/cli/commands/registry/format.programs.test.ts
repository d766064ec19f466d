/** Generated types are formatted: the formatter of this project leaves them as they are. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import corpus from '../../../../bench/corpus/messages.json' with { type: 'json' };
import { ended, start } from '../../../helpers/child.js';
import { cli, scratchFolder } from '../../../helpers/cli.js';

const scratch = scratchFolder();

const ODD = [
  ["it's", 'say "hi"', `'both" 'marks'`, 'line\nend'],
  [
    'a label of many words in a row here',
    'another label of many words in a row',
    'and a third label of many words too',
  ],
  ['in the northern region', 'in the southern region', 'in the eastern region', 'in the western region of it'],
].flatMap((labels) =>
  [...labels, ...labels].map((label) => ({
    agent: 'a',
    intent: 'req',
    operation: 'a_long_operation_with_many_words_in_its_name_that_goes_on_and_on',
    schema: 'INC',
    payload: {
      label,
      'a b': [[{ deep: [{ label, 'x-y': null }] }], 1, 'x', true],
      of_many: {
        words: { and: { levels: { a_rather_long_key_of_an_enumeration_of_labels: label, other: [label, null] } } },
      },
      ...(label.length > 22 ? { [`optional_key_${label.length}`]: [{ label }] } : {}),
    },
  })),
);

test.each([
  ['the corpus', corpus.map(({ message }) => message)],
  ['odd keys and strings', ODD],
])('the types of %s are formatted', async (_, messages) => {
  const types = path.join(scratch.path, 'types.ts');
  const stdin = messages.map((message) => `${JSON.stringify(message)}\n`).join('');
  expect((await cli(['registry', 'learn', '--types', types], { stdin })).code).toBe(0);
  const source = readFileSync(types, 'utf8');
  const biome = [process.execPath, 'node_modules/@biomejs/biome/bin/biome', 'format', '--stdin-file-path=types.ts'];
  expect(await ended(start(biome, { stdin: source }))).toMatchObject({ code: 0, stdout: source });
});
