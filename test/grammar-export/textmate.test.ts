import fc from 'fast-check';
import moo from 'moo';
import { describe, expect, test } from 'vitest';
import { packetProseTokens } from '../../grammar/aacp.tokens.js';
import { frameProseTokens } from '../../grammar/accp.tokens.js';
import { accpEditor } from '../../src/accp/language/language.js';
import { textMateGrammar } from '../../src/grammar-export/textmate.js';
import type { EditorLanguage, TokenScope, TokenTable } from '../../src/grammar-export/token-table.js';
import { runs } from '../helpers/runs.js';
import { textMateReader } from './engines/textmate.js';
import { LANGUAGES, linesOf, mooPieces } from './pieces.js';

describe.each(LANGUAGES)('the grammar of $name', (language) => {
  const scopeOf = (token: string): string => `${language.scopes[token]!.textMate}.${language.id}`;

  test.each(['valid', 'mutants'] as const)('finds the tokens that moo finds: %s texts', async (kind) => {
    const read = await textMateReader(textMateGrammar(language));
    fc.assert(
      fc.property(language[kind], (text) => {
        const lines = linesOf(text);
        expect(read(lines)).toEqual(mooPieces(language.table, lines, scopeOf));
      }),
      runs(900),
    );
  });

  test('starts over in each line', async () => {
    const read = await textMateReader(textMateGrammar(language));
    const line = language.id === 'accp' ? '@a>req:run{k:1|' : 'FETCH|HR|k:v';
    expect(read([line, '', line])).toEqual([read([line])[0], [], read([line])[0]]);
  });

  test('has only scopes of its language, each in a well-known group', () => {
    const groups = /^(?:entity\.(?:name|other)|keyword|constant|string|variable|punctuation|invalid)\.[a-z.-]+$/;
    const scopes = Object.values(language.scopes).map(({ textMate }) => textMate);
    expect(scopes.filter((scope) => !groups.test(scope))).toEqual([]);
    const { scopeName, fileTypes } = textMateGrammar(language);
    expect({ scopeName, fileTypes }).toEqual({ scopeName: `source.${language.id}`, fileTypes: [language.id] });
  });
});

test('the first character that cannot be in a frame is illegal, and nothing before it', async () => {
  const accp = accpEditor;
  const read = await textMateReader(textMateGrammar(accp));
  fc.assert(
    fc.property(LANGUAGES[0]!.mutants, (text) => {
      for (const line of linesOf(text)) {
        // Visible ASCII, with a backslash only before a delimiter.
        const good = /^(?:\\[@>:{}[\]|$,~\\]|[!-[\]-~])*/.exec(line)![0].length;
        const illegal = read([line])[0]!.find(({ kind }) => kind === 'invalid.illegal.accp');
        expect(illegal?.start ?? line.length).toBe(good);
      }
    }),
    runs(500),
  );
});

test('tokens that keep the state are one pattern: long words are read once', () => {
  const { repository } = textMateGrammar(accpEditor);
  expect(Object.values(repository).map(({ patterns }) => patterns.length)).toEqual([1]);
});

test('a frame in its scopes', async () => {
  const read = await textMateReader(textMateGrammar(accpEditor));
  const line = '@bot>req:run{v:12,w:[~,true,$a.b,@c:d],x:a\\,é}';
  const pieces = read([line])[0]!.map(
    ({ start, end, kind }) => `${line.slice(start, end)} ${kind.replace('.accp', '')}`,
  );
  expect(pieces).toEqual([
    '@bot entity.name.type.agent',
    '> punctuation.separator',
    'req keyword.control.intent',
    ': punctuation.separator',
    'run entity.name.function.operation',
    '{ punctuation.section.begin',
    'v entity.other.attribute-name.key',
    ': punctuation.separator',
    '12 constant.numeric',
    ', punctuation.separator',
    'w entity.other.attribute-name.key',
    ': punctuation.separator',
    '[ punctuation.section.begin',
    '~ constant.language.null',
    ', punctuation.separator',
    'true constant.language.boolean',
    ', punctuation.separator',
    '$a.b variable.other.reference',
    ', punctuation.separator',
    '@c:d variable.other.mention',
    '] punctuation.section.end',
    ', punctuation.separator',
    'x entity.other.attribute-name.key',
    ': punctuation.separator',
    'a string.unquoted',
    '\\, constant.character.escape',
    'é invalid.illegal',
    '} punctuation.section.end',
  ]);
});

// ---- Any table of tokens ------------------------------------------------------------------------------------------

/** A language with a table and a scope for each name in it. */
function languageOf(table: TokenTable, names: readonly string[]): EditorLanguage {
  const scopes = names.map((name): [string, TokenScope] => [
    name,
    { textMate: `string.${name}`, codeMirror: 'string' },
  ]);
  return { name: 'T', id: 't', fileTypes: [], table, scopes: Object.fromEntries(scopes) };
}

const TABLES: readonly { readonly name: string; readonly table: TokenTable; readonly alphabet: readonly string[] }[] = [
  {
    name: 'literals and patterns in any order',
    table: {
      states: {
        main: {
          b: ['=', '==', '=>'],
          a: [/x+=/, 'x'] as unknown as RegExp[],
          c: { match: /[\s\S]/, lineBreaks: true },
        },
      },
      start: 'main',
    },
    alphabet: ['=', '>', 'x', 'y', ' '],
  },
  {
    name: 'the same character twice before any pattern',
    table: { states: { main: { a: ['x', 'y'], b: 'x', c: /[xyz]/ } }, start: 'main' },
    alphabet: ['x', 'y', 'z'],
  },
  {
    name: 'a fallback between tokens',
    table: { states: { main: { a: /[0-9]+(?![a-z])/, b: '"', rest: moo.fallback } }, start: 'main' },
    alphabet: ['1', '2', 'a', '"', ' ', '\u{1f600}', '\ud800'],
  },
  {
    name: 'an error up to the end',
    table: { states: { main: { a: /a+/, wrong: moo.error } }, start: 'main' },
    alphabet: ['a', 'a', 'a', 'b'],
  },
  {
    name: 'states, included ones and those of all',
    table: {
      states: {
        out: { open: { match: '(', next: 'in' }, include: 'words', close: ')' },
        in: { close: { match: ')', next: 'out' }, include: ['words', 'in'] },
        words: { word: /[a-z]+/ },
        $all: { any: { match: /[^()a-z]/, lineBreaks: true }, open: '(' },
      },
      start: 'out',
    },
    alphabet: ['(', ')', 'a', 'b', '1'],
  },
  {
    name: 'what the engines write differently',
    table: {
      states: {
        main: {
          space: { match: /\s/, lineBreaks: true },
          wordEnd: /\w+\b(?!-)/,
          digit: /\d{2}?|[[&&\]]{1,2}?#/,
          line: /^[^\S\n]?-|-$/,
          inside: /\B'/,
          dot: /.(?<!q)/,
          rest: { match: /[\s\S]/, lineBreaks: true },
        },
      },
      start: 'main',
    },
    alphabet: [..."aé_19٣-[]&#'q ", '\u00a0', '\u0085', '\u2028', '\ufeff', '\u180e', '\0'],
  },
  {
    name: 'characters beyond the first 65,536',
    table: {
      states: { main: { two: /\u{1f600}|[\u{1f610}\ud83d\ude11x]{2}/u, other: { match: /[^\n]/u } } },
      start: 'main',
    },
    alphabet: ['\u{1f600}', '\u{1f610}', '\u{1f611}', 'x', 'y', '\u{10ffff}'],
  },
  {
    name: 'pairs of surrogates by halves',
    table: {
      states: {
        main: {
          some: /[\ud83d\ud83e][\ude00-\ude4f]/,
          other: { match: /\ud83d[\udc00-\udfff]|[^\ud800-\udfff]|\ud83e\udd23/, lineBreaks: true },
        },
      },
      start: 'main',
    },
    alphabet: ['\u{1f600}', '\u{1f610}', '\u{1f400}', '\u{1f923}', 'x'],
  },
  {
    name: 'frames in prose',
    table: { states: { prose: frameProseTokens }, start: 'prose' },
    alphabet: proseAlphabet(),
  },
  {
    name: 'packets in prose',
    table: { states: { prose: packetProseTokens }, start: 'prose' },
    alphabet: proseAlphabet(),
  },
];

function proseAlphabet(): readonly string[] {
  const pieces = ['a', 'bot', 'FETCH|HR|', 'k:', '\\n', '\x1b[1m', '\\u001b[0;1m', '\\u0040a\\u003eb:'];
  return [...'@>{:|"\\ é\u2028', '\ud83d', ...pieces];
}

describe.each(TABLES)('a table with $name', ({ table, alphabet }) => {
  test('has a grammar that finds what moo finds', async () => {
    const names = Object.values(table.states).flatMap((rules) => Object.keys(rules));
    const read = await textMateReader(textMateGrammar(languageOf(table, names)));
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...alphabet), { maxLength: 12 }), (characters) => {
        const lines = [characters.join('')];
        expect(read(lines)).toEqual(mooPieces(table, lines, (name) => `string.${name}.t`));
      }),
      runs(500),
    );
  });
});

test('unmatched characters are illegal, one character each', async () => {
  const table: TokenTable = { states: { main: { a: /a/ } }, start: 'main' };
  const read = await textMateReader(textMateGrammar(languageOf(table, ['a'])));
  expect(read(['a?\u{1f600}\ud800a'])[0]!.map(({ start, kind }) => [start, kind])).toEqual([
    [0, 'string.a.t'],
    [1, 'invalid.illegal.t'],
    [2, 'invalid.illegal.t'],
    [4, 'invalid.illegal.t'],
    [5, 'string.a.t'],
  ]);
});

test('a token that ends between the halves of a pair takes both', async () => {
  const table: TokenTable = { states: { main: { escape: /\\./, a: /a/ } }, start: 'main' };
  const read = await textMateReader(textMateGrammar(languageOf(table, ['escape', 'a'])));
  expect(read(['\\\u{1f600}a'])[0]!.map(({ start, end }) => [start, end])).toEqual([
    [0, 3],
    [3, 4],
  ]);
});

describe('a table without an equivalent grammar is rejected', () => {
  const main = (rules: moo.Rules): TokenTable => ({ states: { main: rules }, start: 'main' });

  test.each([
    ['an unknown start', { states: {}, start: 'main' }, TypeError, 'no state "main"'],
    ['a stack', main({ a: { match: 'a', push: 'main' } }), TypeError, 'stack of states'],
    [
      'a function',
      main({ a: { match: 'a', type: moo.keywords({ b: 'b' }) } }),
      TypeError,
      'is a function, which is not supported',
    ],
    ['a token without a scope', main({ unknown: 'a' }), TypeError, 'token "unknown" has no scope'],
    ['a token named like a method', main({ toString: 'a' }), TypeError, 'token "toString" has no scope'],
    ['half of a pair', main({ a: /\ud83d/ }), RangeError, 'surrogate'],
    ['a property', main({ a: /\p{L}/u }), RangeError, 'escape \\p'],
    ['an empty match', main({ a: /a*/ }), Error, 'matches empty string'],
    ['a missing state', main({ a: { match: 'a', next: 'b' } }), Error, "Missing state 'b'"],
  ])('%s', (_name, table, error, message) => {
    const act = (): unknown => textMateGrammar(languageOf(table as TokenTable, ['a']));
    expect(act).toThrow(error);
    expect(act).toThrow(message);
  });
});
