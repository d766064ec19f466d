import { StreamLanguage } from '@codemirror/language';
import fc from 'fast-check';
import type moo from 'moo';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { accpEditor } from '../../src/accp/language/language.js';
import { codeMirrorMode } from '../../src/grammar-export/codemirror.js';
import type { EditorLanguage, TokenTable } from '../../src/grammar-export/token-table.js';
import { runs } from '../helpers/runs.js';
import { loadMode, readDocument, readLines } from './engines/codemirror.js';
import { LANGUAGES, linesOf, mooPieces } from './pieces.js';

describe.each(LANGUAGES)('the mode of $name', (language) => {
  const tagOf = (token: string): string => language.scopes[token]!.codeMirror;
  let mode: StreamLanguage<unknown>;

  beforeAll(async () => {
    mode = StreamLanguage.define(await loadMode(codeMirrorMode(language), language.id));
  });

  test.each(['valid', 'mutants'] as const)('finds the tokens that moo finds: %s texts', (kind) => {
    fc.assert(
      fc.property(language[kind], (text) => {
        const lines = linesOf(text);
        expect(readLines(mode, lines)).toEqual(mooPieces(language.table, lines, tagOf));
      }),
      runs(2000),
    );
  });

  test('reads a document of many lines, each from the start', () => {
    const lines = fc.sample(language.valid, { numRuns: 200, seed: 1 }).flatMap((text) => ['', ...linesOf(text)]);
    expect(readDocument(mode, lines)).toEqual(mooPieces(language.table, lines, tagOf));
  });

  test('has only tags that CodeMirror knows', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const names = Object.values(language.table.states).flatMap((rules) => Object.keys(rules));
    const tokens = [...new Set(names)].map((name) => ({ name, tag: tagOf(name) }));
    const known = tokens.filter(({ tag }) => readLines(oneTag(tag), ['x'])[0]![0]?.kind === tag);
    expect(known).toEqual(tokens);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  test('is ASCII, deterministic, and without imports', () => {
    const source = codeMirrorMode(language);
    expect(codeMirrorMode(language)).toBe(source);
    expect(source).toMatch(/^[\n -~]*$/);
    expect(source.match(/^.*\b(?:import|require)\b.*$/gm)!.filter((line) => !line.startsWith('//'))).toEqual([]);
  });
});

/** Characters beyond ASCII, one after a redundant backslash, one after a literal backslash; and a slash. */
const ODD = '[é]é|😀|\\é/|\\\\é';

/** A mode with one tag for everything. */
function oneTag(tag: string): StreamLanguage<unknown> {
  return StreamLanguage.define<unknown>({
    token(stream) {
      stream.skipToEnd();
      return tag;
    },
  });
}

describe('any table', () => {
  const languageOf = (rules: moo.Rules, names: readonly string[], start = 'main'): EditorLanguage => ({
    name: 'Odd \u2028 name',
    id: 'odd',
    fileTypes: [],
    table: { states: { [start]: rules }, start },
    scopes: Object.fromEntries(names.map((name) => [name, { textMate: 'string', codeMirror: name }])),
  });

  test.each<[string, EditorLanguage]>([
    [
      'characters beyond ASCII',
      languageOf({ keyword: new RegExp(ODD), string: { match: /[^"]/, lineBreaks: true } }, ['keyword', 'string']),
    ],
    ['the flag u', languageOf({ keyword: /[\u{1f600}é]{2}/u, string: /[^"\n]/u }, ['keyword', 'string'])],
    [
      'odd names of states',
      languageOf({ keyword: /é+/, string: { match: /[^"]/, lineBreaks: true } }, ['keyword', 'string'], "it's \\ \n é"),
    ],
  ])('%s', async (_name, language) => {
    const source = codeMirrorMode(language);
    expect(source).toMatch(/^[\n -~]*$/);
    const mode = StreamLanguage.define(await loadMode(source, 'odd'));
    const characters = fc.constantFrom('é', '\u{1f600}', '\u{1f601}', '/', '\\', 'x', '\u2028', '\0');
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 8 }), (parts) => {
        const lines = [parts.join('')];
        expect(readLines(mode, lines)).toEqual(mooPieces(language.table, lines, (token) => token));
      }),
      runs(300),
    );
  });

  test('unmatched characters are invalid, one character each', async () => {
    const language = languageOf({ keyword: /a/ }, ['keyword']);
    const mode = StreamLanguage.define(await loadMode(codeMirrorMode(language), 'odd'));
    expect(readLines(mode, ['a?\u{1f600}a'])[0]!.map(({ end, kind }) => [end, kind])).toEqual([
      [1, 'keyword'],
      [2, 'invalid'],
      [4, 'invalid'],
      [5, 'keyword'],
    ]);
  });

  test.each(['', 'a-b', 'class', 'x = 1;', 'A'])('a language with the id "%s" is rejected', (id) => {
    expect(() => codeMirrorMode({ ...accpEditor, id })).toThrow('must be a JavaScript identifier');
  });

  test('a table without its start state is rejected', () => {
    const table: TokenTable = { states: {}, start: 'main' };
    expect(() => codeMirrorMode({ ...accpEditor, table })).toThrow('no state "main"');
  });
});
