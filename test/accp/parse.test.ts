/** Messages, places and help of the parser's errors; what is accepted is in the conformance cases. */
import { describe, expect, test } from 'vitest';
import { ParseError, parseFrame, tryParseFrame } from '../../src/accp/index.js';

interface Told {
  /** The text at the position of the error. */
  readonly at: string;
  readonly start: number;
  readonly message: string;
  readonly help: string | undefined;
}

function told(text: string, options?: Parameters<typeof tryParseFrame>[1]): Told {
  const result = tryParseFrame(text, options);
  if (result.ok) throw new Error('was accepted');
  const { span, message, help } = result.error;
  return { at: text.slice(span!.start, span!.end), start: span!.start, message, help };
}

/** The help for a payload, in the strict dialect. */
function helpFor(payload: string): string | undefined {
  return told(`@a>req:x{${payload}}`).help;
}

describe('messages name the expected and the found text', () => {
  test.each([
    ['', 0, 'Expected "@", found end of input.'],
    ['x', 0, 'Expected "@", found "x".'],
    ['@', 1, 'Expected agent id, found end of input.'],
    ['@a.b>req:x{}', 2, 'Expected ">", found ".".'],
    ['@a>1', 3, 'Expected intent, found "1".'],
    ['@a>req{}', 6, 'Expected ":", found "{".'],
    ['@a>req:{}', 7, 'Expected operation, found "{".'],
    ['@a>req:x', 8, 'Expected "{", found end of input.'],
    ['@a>req:x{-:1}', 9, 'Expected "}" or key, found "-".'],
    ['@a>req:x{k}', 10, 'Expected ":", found "}".'],
    ['@a>req:x{k:}', 11, 'Expected a value, found "}".'],
    ['@a>req:x{k:12:30}', 13, 'Expected "|", "}" or text, found ":".'],
    ['@a>req:x{k:v:30}', 12, 'Expected "|", "}" or text, found ":".'],
    ['@a>req:x{k:$}', 12, 'Expected reference path, found "}".'],
    ['@a>req:x{k:\\a}', 12, 'Expected delimiter, found "a".'],
    ['@a>req:x{}x', 10, 'Expected "[" or end of input, found "x".'],
    ['@a>req:x{}[]', 11, 'Expected key, found "]".'],
    ['\uff20a>req:x{}', 0, 'Expected "@", found "\uff20" (U+FF20).'],
    ['@a>req:x{k:\u{1f600}}', 11, 'Expected a value, found "\u{1f600}" (U+1F600).'],
    ['@a>req:x{k:\ud800}', 11, 'Expected a value, found U+D800.'],
    ['@a>req:x{k:\0}', 11, 'Expected a value, found U+0000.'],
  ])('%j', (text, start, message) => {
    expect(told(text)).toMatchObject({ start, message });
  });

  test('found and expected are available as data, too', () => {
    const result = tryParseFrame('@a>req:x{k:v,w}');
    expect(result.ok || result.error).toMatchObject({ expected: ['"|"', '"}"', 'text'], found: ',', code: 'E1001' });
  });
});

describe('the hint names the correction', () => {
  test.each([
    ['k:v,l:w', 'separate parameters by "|"; inside a value, write "\\,"'],
    ['k:12:30', 'inside a value, write "\\:"'],
    ['k:a~b', 'inside a value, write "\\~"'],
    ['k:a$b', 'inside a value, write "\\$"'],
    ['k:a>b', 'inside a value, write "\\>"'],
    ['k:me@home', 'inside a value, write "\\@"'],
    ['k:[a|b]', 'separate metadata and array items by ","'],
    ['k:[rev:-12%]', 'escape the colon ("\\:") or parse in the lenient dialect, which allows keyed items'],
    ['k:', 'a value cannot be empty: omit the key, or write "~" for null'],
    ['k:|l:v', 'a value cannot be empty: omit the key, or write "~" for null'],
    ['k:[1,]', 'a value cannot be empty: omit the key, or write "~" for null'],
    ['k:C\\D', 'write a backslash only before one of @ > : { } [ ] | $ , ~ \\'],
    [
      'k:two words',
      'a frame cannot contain white space; in a value, write "_" or another visible character for a space',
    ],
    ['k:caf\u00e9', 'a frame can contain visible ASCII only'],
    ['nx:@strategy:plan', 'escape it ("\\@strategy\\:plan") or parse in the lenient dialect'],
    ['who:@dev_team', 'escape it ("\\@dev_team") or parse in the lenient dialect'],
  ])('{%s}', (payload, help) => {
    expect(helpFor(payload)).toBe(help);
  });

  test.each([' @a>req:x{}', '@a>req:x{}\n', '@a>req:x{} ', '\t@a>req:x{}', '@a>req:x{}[mid:1]\r\n'])(
    'white space around a frame: %j',
    (text) => {
      expect(told(text).help).toBe('a frame is one line without white space around it');
    },
  );

  test.each(['@', '@a>re', '@a>req:x{', '@a>req:x{k:v', '@a>req:x{k:[1,', '@a>req:x{}[mid:1'])(
    'a truncated frame: %s',
    (text) => {
      expect(told(text)).toMatchObject({ at: '', start: text.length, help: 'the frame ends too early' });
    },
  );

  test('there is no hint for other errors', () => {
    expect(told('hello')).toHaveProperty('help', undefined);
    expect(told('@a>req:x{k-1:v}')).toHaveProperty('help', undefined);
  });

  test.each([
    ['', 'the text is empty'],
    ['FETCH|HR|return:A', 'this looks like an AACP packet'],
    ['@a>req:x{}@b>req:y{}', 'parse one frame at a time; nothing can follow it'],
    ['@a>req:x{:1}', 'a key is missing before the colon'],
    ['@a>req:x{k:a{b}', 'inside a value, write "\\{"'],
    ['@a>req:x{k:\x1b}', 'a frame cannot contain control characters'],
    ['@a>req:x{nx:@a:b:c}', 'inside a value, write "\\@"'],
    ['@a>req:x{nx:@a:b}', 'escape it ("\\@a\\:b") or parse in the lenient dialect'],
  ])('%j', (text, help) => {
    expect(told(text).help).toBe(help);
  });

  test('the lenient dialect is not suggested in the lenient dialect', () => {
    expect(told('@a>req:x{k:@b:c:d}', { dialect: 'lenient' }).help).toBe('inside a value, write "\\:"');
    expect(told('@a>req:x{k:[k:@a]}', { dialect: 'lenient' }).help).toBe('inside a value, write "\\@"');
  });
});

describe('repeated keys', () => {
  test.each([
    ['@a>req:x{k:1|k:2}', 13, 'k'],
    ['@a>req:x{mode:\\||x:[a,{mode:1}]|mode:2}', 32, 'mode'],
    ['@a>req:x{m:{a:1,b:[{c:1,d:2}],a:3}}', 30, 'a'],
    ['@a>req:x{}[mid:1,seq:2,mid:3]', 23, 'mid'],
    [`@a>req:x{${Array.from({ length: 20 }, (_, at) => `k${at}:\\|\\{`).join('|')}|k7:~}`, 179, 'k7'],
  ])('the position is that of the second one: %s', (text, start, at) => {
    expect(told(text)).toEqual({ at, start, message: `The key "${at}" appears twice.`, help: 'remove one of the two' });
  });

  test('keys of different lists are independent', () => {
    expect(tryParseFrame('@a>req:x{k:{k:[{k:1},{k:2}]}}[k:1]').ok).toBe(true);
  });

  test('keys are case-sensitive', () => {
    expect(tryParseFrame('@a>req:x{k:1|K:2}').ok).toBe(true);
  });

  test('keyed items are not keys', () => {
    expect(tryParseFrame('@a>req:x{f:[k:1,k:2]}', { dialect: 'lenient' }).ok).toBe(true);
  });
});

describe('limits', () => {
  const help = (option: string) => `raise ${option} if you trust the sender`;

  test('nesting: the position is that of the excessive bracket', () => {
    expect(told('@a>req:x{k:[[[[[[1]]]]]]}')).toEqual({
      at: '[',
      start: 16,
      message: 'Nesting is deeper than 5.',
      help: help('maxDepth'),
    });
    expect(told('@a>req:x{k:[{a:{}}]}', { maxDepth: 2 })).toMatchObject({ at: '{', start: 15 });
  });

  test('digits: the position is that of the number', () => {
    const digits = '1'.repeat(1001);
    const message = 'The number has more than 1000 digits.';
    expect(told(`@a>req:x{k:-${digits}}`)).toEqual({ at: `-${digits}`, start: 11, message, help: help('maxDigits') });
  });

  test('a limit that is reached first is reported, before any later error', () => {
    expect(told('@a>req:x{k:[[[[[[ \0').message).toBe('Nesting is deeper than 5.');
  });
});

describe('throwing and returning', () => {
  test('the thrown error equals the returned one', () => {
    const result = tryParseFrame('@a>req:x{k}');
    expect(() => parseFrame('@a>req:x{k}')).toThrow(ParseError);
    expect(() => parseFrame('@a>req:x{k}')).toThrow(result.ok ? '' : result.error.message);
  });

  test('the value is the same, and a plain object', () => {
    const frame = parseFrame('@a>req:x{k:v}');
    expect(tryParseFrame('@a>req:x{k:v}')).toStrictEqual({ ok: true, value: frame });
    expect(Object.getPrototypeOf(frame)).toBe(Object.prototype);
  });

  test('no frame shares anything with another one', () => {
    const { payload } = parseFrame('@a>req:x{}');
    (payload as unknown[]).push('changed');
    expect(parseFrame('@a>req:x{}').payload).toEqual([]);
  });
});

test('spans are present only if requested', () => {
  expect(parseFrame('@a>req:x{k:v}')).not.toHaveProperty('span');
  expect(parseFrame('@a>req:x{k:[v]}[t:1]', { spans: true })).toEqual({
    kind: 'frame',
    agent: 'a',
    intent: 'req',
    operation: 'x',
    payload: [
      {
        key: 'k',
        value: {
          kind: 'array',
          items: [{ kind: 'string', value: 'v', span: { start: 12, end: 13 } }],
          span: { start: 11, end: 14 },
        },
        span: { start: 9, end: 14 },
      },
    ],
    metadata: [
      { key: 't', value: { kind: 'integer', value: 1, span: { start: 18, end: 19 } }, span: { start: 16, end: 19 } },
    ],
    span: { start: 0, end: 20 },
  });
});
