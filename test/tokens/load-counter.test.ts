import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base';
import { countTokens as countHarmony } from 'gpt-tokenizer/encoding/o200k_harmony';
import { countTokens as countP50k } from 'gpt-tokenizer/encoding/p50k_base';
import { countTokens as countR50k } from 'gpt-tokenizer/encoding/r50k_base';
import { beforeAll, describe, expect, test } from 'vitest';
import { ENCODINGS, type Encoding, type TokenCounter } from '../../src/tokens/counter.js';
import { loadTokenCounter } from '../../src/tokens/load-counter.js';
import { frameTexts } from '../helpers/accp-arbitraries.js';
import { runs } from '../helpers/runs.js';

const ORACLES: Readonly<Record<Encoding, typeof countO200k>> = {
  o200k_base: countO200k,
  o200k_harmony: countHarmony,
  cl100k_base: countCl100k,
  p50k_base: countP50k,
  r50k_base: countR50k,
};

const NO_SPECIAL = { disallowedSpecial: new Set<string>() };

function truth(encoding: Encoding, text: string): number {
  return ORACLES[encoding](text, NO_SPECIAL);
}

/** Characters that the patterns treat differently, in any order. */
const PIECES = {
  ascii: [...Array(128).keys()].map((code) => String.fromCharCode(code)),
  'words and ends': [
    "'s",
    "'S",
    "'ll",
    "'LL",
    "'vE",
    "'re",
    "'d",
    "'M",
    "'t",
    "'x",
    'the',
    'The',
    'tHE',
    'A',
    'a',
    ' ',
  ],
  'white space': [' ', '  ', '\n', '\r\n', '\t', '\v', '\f', '/', '//', 'x', 'X', '1', '.', "'"],
  json: ['{', '}', '[', ']', '":"', '","', ',', ':', '"', '\n', '    ', 'key', 'value', '12', '-1.5', 'true', 'null'],
  frames: ['@', '>', ':', '{', '}', '[', ']', '|', '$', ',', '~', '\\', '_', 'mid', 'agent', '007', '3.25'],
  digits: [...'0123456789', ' ', '.', 'a'],
  letters: [...'abcdefghijklmnopqrstuvwxyz'],
  'beyond ASCII': [
    '日',
    '本',
    'é',
    'É',
    'ß',
    'ж',
    '🙂',
    '\ud800',
    '\u0301',
    '\u00a0',
    '\u2028',
    '¹',
    '١',
    ' ',
    "'s",
    'a',
    '1',
    '\n',
  ],
};

/** gpt-tokenizer drops this character when it looks up bytes; tiktoken does not. */
const BOM = '\ufeff';

const anyText = fc.oneof(
  ...Object.values(PIECES).map((pieces) =>
    fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((list) => list.join('')),
  ),
  fc.string({ unit: 'binary', maxLength: 30 }),
  frameTexts('strict'),
  frameTexts('lenient'),
  fc.json(),
  fc.json().map((text) => JSON.stringify(JSON.parse(text), null, 2)),
  fc.lorem({ maxCount: 12 }),
);

const texts = anyText.filter((text) => !text.includes(BOM));

/** The counts of tiktoken 1.0.22, in the order of `WITH_BOM`. */
const COUNTS_WITH_BOM: Readonly<Record<Encoding, readonly number[]>> = {
  o200k_base: [1, 2, 2, 1, 1, 1, 2],
  o200k_harmony: [1, 2, 2, 1, 1, 1, 2],
  cl100k_base: [1, 2, 2, 1, 2, 1, 2],
  p50k_base: [3, 4, 4, 3, 6, 4, 4],
  r50k_base: [3, 4, 4, 3, 6, 4, 4],
};
const WITH_BOM = [BOM, `a${BOM}`, `${BOM}a`, ` ${BOM}`, BOM + BOM, `${BOM}\n`, `${BOM}=`];

describe.each(ENCODINGS)('%s', (encoding) => {
  let counter: TokenCounter;
  beforeAll(async () => {
    counter = await loadTokenCounter(encoding);
  });

  test('has its encoding', () => {
    expect(counter).toMatchObject({ exact: true, encoding });
  });

  test('counts any text like the tokenizer', () => {
    const property = fc.property(texts, (text) => {
      expect(counter.count(text)).toBe(truth(encoding, text));
    });
    fc.assert(property, runs(8000));
  });

  test('counts a byte order mark like tiktoken', () => {
    expect(WITH_BOM.map((text) => counter.count(text))).toEqual(COUNTS_WITH_BOM[encoding]);
  });

  test('counts the conversation like the tokenizer, by lines and as a whole', () => {
    const conversation = readFileSync(new URL('../examples/demo/conversation.txt', import.meta.url), 'utf8');
    for (const text of [conversation, ...conversation.split('\n')]) {
      expect(counter.count(text)).toBe(truth(encoding, text));
    }
  });

  test('counts every number of up to three digits like the tokenizer', () => {
    for (let number = 0; number < 1000; number++) {
      for (const width of [1, 2, 3]) {
        const text = String(number).padStart(width, '0');
        expect(counter.count(text), text).toBe(truth(encoding, text));
      }
    }
  });

  test('counts long runs of one kind of character exactly', () => {
    const rows = [
      'a',
      'ab',
      'A',
      'aB',
      '1',
      '!',
      '!?',
      ' ',
      '\n',
      ' \n',
      '\t',
      '/',
      "'",
      "'s",
      '_',
      'é',
      '日本語',
      '\u0301',
    ];
    for (const row of rows) {
      for (const length of [15, 16, 17, 63, 64, 65, 700]) {
        const text = row.repeat(length);
        expect(counter.count(text), `${length} of ${JSON.stringify(row)}`).toBe(truth(encoding, text));
      }
    }
  });
});

test('counts are exact for more words than the cache holds', async () => {
  const counter = await loadTokenCounter('o200k_base');
  const word = (number: number): string => (Math.imul(number, 0x9e3779b1) >>> 0).toString(36);
  for (let round = 0; round < 2; round++) {
    for (let number = 0; number < 40_000; number += 8) {
      const words = [...Array(8).keys()].map((index) => word(number + index));
      const text = `{${words.join('|')}}`;
      expect(counter.count(text), text).toBe(truth('o200k_base', text));
    }
  }
});

test('a text longer than the shared buffer is counted correctly', async () => {
  const counter = await loadTokenCounter('o200k_base');
  const line = '@a>done:analyze{d:q3_sales|pri:high}\n';
  for (const times of [1, 1771, 1772, 4000]) {
    expect(counter.count(line.repeat(times))).toBe(times * truth('o200k_base', line));
  }
});

test('special tokens count as ordinary text', async () => {
  const { count } = await loadTokenCounter();
  expect(count('a <|endoftext|> b')).toBe(9);
});

test('each vocabulary has one counter', async () => {
  expect(await loadTokenCounter('cl100k_base')).toBe(await loadTokenCounter('cl100k_base'));
});

test('an unknown encoding is rejected with a suggestion', async () => {
  await expect(loadTokenCounter('cl100k' as Encoding)).rejects.toThrow(/did you mean 'cl100k_base'\?|must be one of/);
});
