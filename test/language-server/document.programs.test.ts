/** Documents that change, compared with documents that are opened with the same text. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findPackets } from '../../src/aacp/find.js';
import { findFrames } from '../../src/accp/find.js';
import { completions, diagnostics, hover, pushTokens, symbols } from '../../src/language-server/answers.js';
import { OpenDocument } from '../../src/language-server/document.js';
import { LANGUAGES, messagesIn } from '../../src/language-server/messages/find.js';
import { SemanticTokensBuilder, TextDocument } from '../../src/language-server/protocol.js';
import { DEFAULT_SETTINGS } from '../../src/language-server/settings.js';
import { applyFix } from '../../src/text/fix.js';
import { tableLines } from '../../src/text/prose.js';

const pieces = fc.constantFrom(
  ...['\n', '\r\n', '\r', '', ' ', '# c', '\u{1f600}', '`', '"', '|', '{', '}', '\\', ':', '@'],
  ...['@a>req:x{k:1}', '@b>done:y{nx:@c}', 'FETCH|HR|return:A|p:1|aacp:1.1', 'F|H|a:b', '|---|', '| a | `A|B|c:d` |'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text contains templates
  ...['rule = "a" b\n', 'b "B"\n = [c-d]* { x }\n', '/* c', '*/', "'", '(', '${x}'],
);
const texts = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''));
const edits = fc.array(fc.record({ from: fc.nat(200), length: fc.nat(30), text: texts, isWhole: fc.boolean() }), {
  maxLength: 6,
});

describe('OpenDocument', () => {
  it.each(['accp', 'aacp', 'peggy', 'md', 'ts'])(
    'has the same answers after changes as when it is opened, for .%s',
    (ending) => {
      fc.assert(
        fc.property(texts, edits, (text, changes) => {
          const uri = `file:///a.${ending}`;
          const document = new OpenDocument(uri, ending, 1, text, DEFAULT_SETTINGS);
          let plain = TextDocument.create(uri, ending, 1, text);
          diagnostics(document);
          for (const [index, { from, length, text: added, isWhole }] of changes.entries()) {
            const start = plain.positionAt(from);
            const end = plain.positionAt(from + length);
            const change = isWhole && index % 3 === 2 ? { text: added } : { range: { start, end }, text: added };
            plain = TextDocument.update(plain, [change], index + 2);
            document.update([change], index + 2);
            if (index % 2 === 0) diagnostics(document);
          }
          const fresh = new OpenDocument(uri, ending, 1, plain.getText(), DEFAULT_SETTINGS);
          expect(document.text).toBe(plain.getText());
          expect(diagnostics(document)).toEqual(diagnostics(fresh));
          expect(symbols(document)).toEqual(symbols(fresh));
          expect(tokensOf(document)).toEqual(tokensOf(fresh));
        }),
      );
    },
  );
});

function tokensOf(document: OpenDocument): readonly number[] {
  const builder = new SemanticTokensBuilder();
  pushTokens(document, builder);
  return builder.build().data;
}

describe('messages in lines', () => {
  it('are those that the finders find in the whole text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        // Editors end lines at a single carriage return, too.
        const whole = text.replaceAll(/\r(?!\n)/g, '');
        const tables = tableLines(whole);
        let offset = 0;
        const found = whole.split('\n').flatMap((line) => {
          const start = offset;
          offset += line.length + 1;
          const isTable = tables.has(start);
          return messagesIn(line.replace(/\r$/, ''), { dialect: 'strict', isScript: false, isTable }).map(
            (one) => one.start + start,
          );
        });
        const expected = [...findFrames(whole), ...findPackets(whole)].map(({ start }) => start).sort((a, b) => a - b);
        expect(found.sort((a, b) => a - b)).toEqual(expected);
      }),
    );
  });

  it('know the columns of what they contain, whatever the escapes around them', () => {
    const message = String.raw`@a>req:x{k:\@b|m:"q"}`;
    for (const levels of [1, 2, 3]) {
      let line = message;
      for (let level = 0; level < levels; level++) line = JSON.stringify(line);
      const [found] = messagesIn(`\u{1f600} ${line}`, { dialect: 'strict', isScript: false, isTable: false });
      expect(found!.text).toBe(message);
      const column = `\u{1f600} ${line}`.indexOf('m:');
      expect(found!.columnOf(message.indexOf('m:'))).toBe(column);
    }
  });
});

describe('quick fixes', () => {
  const frame = fc.array(
    fc.constantFrom(
      ...[
        '@a',
        '>',
        'req',
        ':',
        'x',
        '{',
        '}',
        '[',
        ']',
        '|',
        ',',
        'k:1',
        'k:',
        '@b',
        '\\',
        ' ',
        '~',
        '$r',
        '\u00e9',
        'mid:m',
      ],
    ),
    { maxLength: 14 },
  );
  const slots = fc.constantFrom(
    ...[
      'FETCH',
      'FECH',
      'HR',
      'return:A',
      'p:1',
      'p:9',
      'aacp:1.1',
      'aacp:1',
      '',
      ' x:1 ',
      'X:1',
      'ltv:2',
      'sentiment:x',
      'ccy:eur',
      'a',
    ],
  );
  it.each([
    ['accp' as const, frame.map((parts) => `@a>req:x{${parts.join('')}`)],
    ['accp' as const, frame.map((parts) => parts.join(''))],
    ['aacp' as const, fc.array(slots, { minLength: 1, maxLength: 7 }).map((parts) => parts.join('|'))],
  ])('of %s remove what they fix, or bring the next error nearer to the end', (protocol, messages) => {
    const { check, fixes } = LANGUAGES[protocol];
    fc.assert(
      fc.property(messages, (text) => {
        for (const finding of check(text, DEFAULT_SETTINGS)) {
          const same = (one: string) => check(one, DEFAULT_SETTINGS).filter(({ code }) => code === finding.code);
          for (const fix of fixes(text, finding, DEFAULT_SETTINGS)) {
            const fixed = applyFix(text, fix);
            const left = same(fixed);
            const isFewer = left.length < same(text).length;
            expect(isFewer || fixed.length - left[0]!.span.start < text.length - finding.span.start).toBe(true);
          }
        }
      }),
    );
  });
});

describe('hostile documents', () => {
  const MANY = 20_000;
  it.each([
    ['accp', `@a>req:x{k:${'['.repeat(MANY)}${'a,'.repeat(MANY)}`],
    ['accp', `@a>req:x{${'k:{'.repeat(MANY)}`],
    ['aacp', `F|H|${'k:v|'.repeat(MANY)}`],
    ['md', '"@a>req:x{k:\\\\@b|'.repeat(MANY)],
    ['json', JSON.stringify(`@a>req:x{k:${'\\@,'.repeat(MANY)}}`)],
    ['ts', `\`@a>req:x{k:${'{a}b'.repeat(MANY)}}\``],
    ['peggy', `a = ${'('.repeat(MANY)}`],
    ['peggy', '{'.repeat(MANY)],
    ['peggy', `a = ${'b '.repeat(MANY)}`],
    ['peggy', '/*'.repeat(MANY)],
  ])('are answered for .%s: %.30s', (ending, text) => {
    const document = new OpenDocument(`file:///a.${ending}`, ending, 1, text, DEFAULT_SETTINGS);
    expect(diagnostics(document)).toBeInstanceOf(Array);
    expect(symbols(document)).toBeInstanceOf(Array);
    expect(tokensOf(document)).toBeInstanceOf(Array);
    const position = { line: 0, character: text.length - 1 };
    expect(completions(document, position)).toBeInstanceOf(Array);
    hover(document, position);
  });
});
