import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FoundFrame, findFrames } from '../../src/accp/find.js';
import { parseFrame, printFrame } from '../../src/accp/index.js';
import { frames } from '../helpers/accp-arbitraries.js';

const FRAME = '@a>req:x{k:v}[mid:1]';

/** Returns the found items, and checks their offsets. */
function read({ start, end, text, decoded }: FoundFrame, source: string): string {
  expect(source.slice(start, end)).toBe(text);
  return decoded ?? text;
}

/** The frames found, those that do not parse with an exclamation mark before them. */
function found(source: string): string[] {
  return findFrames(source).map((item) => `${item.ok ? '' : '! '}${read(item, source)}`);
}

describe('a frame is found', () => {
  test.each([
    ['alone', FRAME],
    ['in a sentence', `Send ${FRAME} now.`],
    ['at the end of one', `Send ${FRAME}.`],
    ['in brackets', `(${FRAME}) <${FRAME}> [${FRAME}]`],
    ['in inline code', `Send \`${FRAME}\`.`],
    ['in emphasis', `**${FRAME}** *${FRAME}*`],
    ['in a link', `[the frame](${FRAME})`],
    ['in a table', `| frame | state |\n|---|---|\n| ${FRAME} | sent |`],
    ['in a table without outer bars', `frame | state\n--|--\n${FRAME} | sent`],
    ['in fenced code', `\`\`\`accp\n${FRAME}\n\`\`\``],
    ['in a list', `- ${FRAME}\n* ${FRAME}\n1. ${FRAME}`],
    ['in quotes', `"${FRAME}" '${FRAME}'`],
    ['in a JSON string', `{"frame":"${FRAME}"}`],
    ['in a log line', `2026-05-01T12:00:00Z INFO frame=${FRAME} bytes=20`],
    ['with line ends of Windows', `${FRAME}\r\n${FRAME}\r\n`],
    ['several times in a line', `${FRAME}, ${FRAME}; ${FRAME}${FRAME}`],
    ['behind other text in brackets', `@ {x} [y] > ${FRAME}`],
    ['beside an e-mail address', `me@home.org: ${FRAME}`],
    ['beside characters of two units', `\u{1f600}${FRAME}\u{1f600} \ud800${FRAME}`],
  ])('%s', (_name, source) => {
    const count = source.split(FRAME).length - 1;
    expect(found(source)).toEqual(Array(count).fill(FRAME));
  });

  test.each([
    ['in colour on a terminal', `\x1b[32m${FRAME}\x1b[0m`],
    ['in a tag', `<frame>${FRAME}</frame>`],
    ['in typographic quotes', `\u201c${FRAME}\u201d \u00ab${FRAME}\u00bb`],
    ['behind an inch mark', `5" disk: ${FRAME}`],
  ])('%s', (_name, source) => {
    expect(found(source)).toEqual(Array(source.split(FRAME).length - 1).fill(FRAME));
  });

  test.each([
    ['escapes', String.raw`{"f":"@a>req:x{k:a\\|b}"}`, String.raw`@a>req:x{k:a\|b}`],
    ['an escaped arrow', String.raw`{"f":"@a\u003ereq:x{k:v}"}`, '@a>req:x{k:v}'],
    ['a string in a string', String.raw`{"a":"{\"f\":\"@a>req:x{k:a\\\\|b}\"}"}`, String.raw`@a>req:x{k:a\|b}`],
    [
      'text before it in a string in a string',
      String.raw`{"a":"{\"t\":\"say @a>req:x{k:a\\\\,b} now\",\"n\":1}"}`,
      String.raw`@a>req:x{k:a\,b}`,
    ],
    ['text before it', String.raw`{"m":"sent @a>req:x{k:a\\|b} now"}`, String.raw`@a>req:x{k:a\|b}`],
  ])('in JSON with %s, decoded', (_name, source, frame) => {
    expect(found(source)).toEqual([frame]);
  });

  test('in a table whose cells escape their bars', () => {
    expect(found('| `@a>req:x{k:v\\|l:w}` | y |')).toEqual(['@a>req:x{k:v|l:w}']);
  });

  test('and ends at the quote that opened it', () => {
    expect(found('["@a>req:x{k:[v","w]}"]')).toEqual(['! @a>req:x{k:[v']);
    expect(found('`@a>req:x{k:v` and `w}`')).toEqual(['! @a>req:x{k:v']);
  });

  test('from its first to its last character', () => {
    expect(found('@a>req:x{} [mid:1]')).toEqual(['@a>req:x{}']);
    expect(found('@a>req:x{}[mid:1][x]')).toEqual(['@a>req:x{}[mid:1]']);
    expect(found('@a>req:x{k:\\}|l:[{m:\\]}]}} x')).toEqual(['@a>req:x{k:\\}|l:[{m:\\]}]}']);
  });
});

test.each(['me@home.org', '@everyone: hello', 'a@b>c:d', '@a > b:c{}', '@a>b', '@Override void x()', 'x > y: {z}', ''])(
  'nothing is found in %j',
  (source) => {
    expect(found(source)).toEqual([]);
  },
);

describe('a text that looks like a frame is reported with its error', () => {
  test.each<[source: string, text: string, message: string]>([
    ['@a>req:x', '@a>req:x', 'Expected "{", found end of input.'],
    ['say @a>req:x{k:v', '@a>req:x{k:v', 'Expected "|", "}" or text, found end of input.'],
    ['"@a>req:x{k:v" rest', '@a>req:x{k:v', 'Expected "|", "}" or text, found end of input.'],
    ["'@a>req:x{k:v' rest", '@a>req:x{k:v', 'Expected "|", "}" or text, found end of input.'],
    ['`@a>req:x{k:v` rest', '@a>req:x{k:v', 'Expected "|", "}" or text, found end of input.'],
    ['@a>req:x{k:two words} and', '@a>req:x{k:two words}', 'Expected "|", "}" or text, found a space.'],
    ['@a>req:x{k:caf\u00e9}', '@a>req:x{k:caf\u00e9}', 'Expected "|", "}" or text, found "\u00e9" (U+00E9).'],
    ['@>req:x{} ', '@>req:x{}', 'Expected agent id, found ">".'],
    ['@a>req-x:y{} ', '@a>req-x:y{}', 'Expected ":", found "-".'],
    ['@a>req:x{k:@b:c}', '@a>req:x{k:@b:c}', 'Expected a value, found "@".'],
    ['@a>req:x{k:1|k:2} x', '@a>req:x{k:1|k:2}', 'The key "k" appears twice.'],
  ])('%s', (source, text, message) => {
    const [item, ...more] = findFrames(source);
    expect(more).toEqual([]);
    expect(read(item!, source)).toBe(text);
    expect(item!.ok || item!.error.message).toBe(message);
  });

  test('and those after it are found', () => {
    expect(found(`@a>req:x{k:v\n${FRAME} @b>req:y{ ${FRAME}`)).toEqual(['! @a>req:x{k:v', FRAME, '! @b>req:y{', FRAME]);
  });
});

describe('in JSON strings, escapes are those of JSON', () => {
  test.each([
    ['an escaped backslash', '{"f":"@a>req:x{k:a\\\\,b}"}', '@a>req:x{k:a\\,b}'],
    ['a quote', '{"f":"@a>req:x{k:say_\\"hi\\"}"}', '@a>req:x{k:say_"hi"}'],
    ['a code unit', '{"f":"@a>req:x{k:\\u0041}[mid:1] \\u00e9"}', '@a>req:x{k:A}[mid:1]'],
    ['quotes around the frame', '{"m":"say \\"@a>req:x{k:v}\\" now"}', '@a>req:x{k:v}'],
    ['a line of its own', '{"m":"first\\n@a>req:x{k:v}\\nlast"}', '@a>req:x{k:v}'],
  ])('%s', (_name, source, frame) => {
    const [item, ...more] = findFrames(source);
    expect(more).toEqual([]);
    expect(read(item!, source)).toBe(frame);
    expect(item!.ok && item!.value).toEqual(parseFrame(frame));
    expect(JSON.parse(`"${item!.text}"`)).toBe(frame);
  });

  test('a frame that parses only with its escapes keeps them', () => {
    const source = '{"f":"@a>req:x{k:a\\,b}"}';
    expect(found(source)).toEqual(['@a>req:x{k:a\\,b}']);
    expect(findFrames(source)[0]).not.toHaveProperty('decoded');
  });

  test('the position of an error refers to the decoded text', () => {
    const [item] = findFrames('{"f":"@a>req:x{k:a\\\\,b\\u0020c}"}');
    expect(item!.decoded).toBe('@a>req:x{k:a\\,b c}');
    expect(item!.ok || item!.error.span).toEqual({ start: 15, end: 16 });
  });

  test('lines of JSON', () => {
    const frames = ['plain', 'a\\,b', '"', '\\\\', 'C\\:\\\\dir'].map((value) => `@a>req:x{k:${value}}[mid:1]`);
    const log = frames.map((frame) => JSON.stringify({ level: 'info', frame, bytes: 20 })).join('\n');
    expect(found(log)).toEqual(frames);
  });
});

test('options are those of the parser', () => {
  expect(findFrames('@a>req:x{nx:@b:c}', { dialect: 'lenient' })).toMatchObject([{ ok: true }]);
  expect(findFrames('x @a>req:x{}', { spans: true })).toMatchObject([{ value: { span: { start: 0, end: 10 } } }]);
  expect(findFrames('@a>req:x{k:1}', { maxItems: 0 })).toMatchObject([{ error: { reason: 'limit' } }]);
  expect(() => findFrames(FRAME, { dialect: 'x' as 'strict' })).toThrow(TypeError);
  expect(() => findFrames(7 as unknown as string)).toThrow(
    new TypeError('findFrames: text must be a string; got number'),
  );
});

describe('over random frames in random prose', () => {
  const prose = fc.array(
    fc.constantFrom(
      'Send',
      'this:',
      '(see',
      'me@home.org)',
      '->',
      '{',
      ']',
      '\u{1f600}',
      '|',
      '3 > 2',
      '@all',
      '\t',
      '\u00e9.',
    ),
    { maxLength: 5 },
  );
  const printed = frames.map((frame) => printFrame(frame));
  const lines = fc.tuple(prose, printed, prose).map(([before, frame, after]) => ({
    frame,
    line: [...before, frame, ...after].join(' '),
  }));

  test('each is found at its position, and nothing else', () => {
    const texts = fc.tuple(fc.array(lines, { maxLength: 5 }), fc.constantFrom('\n', '\r\n', '\n\n'));
    const law = fc.property(texts, ([list, lineEnd]) => {
      const text = list.map(({ line }) => line).join(lineEnd);
      expect(found(text)).toEqual(list.map(({ frame }) => frame));
    });
    fc.assert(law, { numRuns: 300 });
  });

  test('several in one line, too, if they contain no quotes', () => {
    const quoteless = printed.filter((frame) => !frame.includes('"'));
    const law = fc.property(fc.array(fc.tuple(prose, quoteless), { maxLength: 5 }), (list) => {
      const text = list.map(([before, frame]) => [...before, frame].join(' ')).join(' ');
      expect(found(text)).toEqual(list.map(([, frame]) => frame));
    });
    fc.assert(law, { numRuns: 500 });
  });

  test('in JSON, too, with any content', () => {
    const law = fc.property(lines, ({ frame, line }) => {
      const json = JSON.stringify({ before: 'x', message: line });
      expect(found(json)).toEqual([frame]);
    });
    fc.assert(law, { numRuns: 300 });
  });
});
