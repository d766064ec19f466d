import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FoundPacket, findPackets } from '../../src/aacp/find.js';
import { parsePacket, printPacket } from '../../src/aacp/index.js';
import { packets } from '../helpers/aacp-arbitraries.js';

const PACKET = 'FETCH|HR|return:A|p:1';
/** A packet whose value could continue in running prose. */
const SPACED = `${PACKET}|res:two words`;

/** Finds packets, and checks that the offsets are offsets in the text. */
function read({ start, end, text, decoded }: FoundPacket, source: string): string {
  expect(source.slice(start, end)).toBe(text);
  return decoded ?? text;
}

/** The packets found; one that does not parse has an exclamation mark before it. */
function found(source: string): string[] {
  return findPackets(source).map((item) => `${item.ok ? '' : '! '}${read(item, source)}`);
}

describe('a packet is found', () => {
  test.each([
    ['alone', PACKET],
    ['in a sentence', `Send ${PACKET} now.`],
    ['at the end of one', `Send ${PACKET}. Or ${PACKET}! Or ${PACKET}?`],
    ['before a comma', `${PACKET}, ${PACKET}; ${PACKET}: x`],
    ['in brackets', `x (${PACKET}) [${PACKET}] {${PACKET}} <${PACKET}>`],
    ['in emphasis', `x **${PACKET}** *${PACKET}*`],
    ['in a link', `x [the packet](${PACKET})`],
    ['in a log line', `2026-05-01T12:00:00Z INFO ${PACKET} ok`],
    ['behind an equals sign', `packet=${PACKET} bytes=20`],
    ['before a bar and more', `x ${PACKET} | see below`],
    ['with line ends of Windows', `${PACKET}\r\n${PACKET}\r\n`],
    ['on lines with white space around', `  ${PACKET}  \n\t${PACKET}\t`],
    ['beside characters of two units', `\u{1f600}${PACKET} \u{1f600}`],
  ])('%s', (_name, source) => {
    expect(found(source)).toEqual(Array(source.split(PACKET).length - 1).fill(PACKET));
  });

  test.each([
    ['on a line of its own', SPACED],
    ['on a line of fenced code', `\`\`\`aacp\n${SPACED}\n\`\`\``],
    ['behind list markers', `- ${SPACED}\n* ${SPACED}\n+ ${SPACED}\n12. ${SPACED}\n3) ${SPACED}`],
    ['in a nested list', `  - 1. ${SPACED}`],
    ['in a quotation', `> ${SPACED}\n> > - ${SPACED}`],
    ['in inline code', `Send \`${SPACED}\` now.`],
    ['in quotes', `Send "${SPACED}" or '${SPACED}' now.`],
    ['in inline code in a table', `| packet | state |\n|---|---|\n| \`${SPACED}\` | sent |`],
    ['in a JSON string', `{"packet":"${SPACED}","n":1}`],
  ])('with spaces in its last value, %s', (_name, source) => {
    expect(found(source)).toEqual(Array(source.split(SPACED).length - 1).fill(SPACED));
  });

  test.each([
    ['in a tag', `<tool_call>${PACKET}</tool_call>`],
    ['before a closing tag', `${PACKET}</think>`],
    ['in colour on a terminal', `\x1b[32m${PACKET}\x1b[0m`],
    ['struck through', `x ~~${PACKET}~~`],
    ['before punctuation of other scripts', `x ${PACKET}\u3002`],
  ])('%s', (_name, source) => {
    expect(found(source)).toEqual([PACKET]);
  });

  test.each([
    ['a string in a string', String.raw`{"arguments":"{\"packet\":\"${SPACED}\",\"id\":1}"}`],
    ['escaped quotes', String.raw`{"m":"he sent \"${SPACED}\" today"}`],
    ['a string in a string, with text before it', String.raw`{"a":"{\"t\":\"run <b>${SPACED}</b> now\",\"n\":1}"}`],
    ['a tag', `<packet>${SPACED}</packet>`],
    ['a colour', `\x1b[1;32m${SPACED}\x1b[39m x`],
    ['a link', `see [${SPACED}](http://x.y)`],
    ['two in escaped quotes', String.raw`{"m":"\"${SPACED}\" and \"${SPACED}\""}`],
    ['typographic quotes', `\u201c${SPACED}\u201d x`],
  ])('in %s', (_name, source) => {
    expect(found(source)).toEqual(Array(source.split(SPACED).length - 1).fill(SPACED));
  });

  test('whole or not at all: a colour or tag inside it does not cut fields off', () => {
    expect(found('A|B|k:\x1b[31mred\x1b[0m|p:1')).toEqual(['! A|B|k:\x1b[31mred\x1b[0m|p:1']);
    expect(found('A|B|k:<b>x</b>|p:1')).toEqual(['A|B|k:<b>x</b>|p:1']);
    expect(found('A|B|p:1|k:<b>x</b>')).toEqual(['A|B|p:1|k:<b>x</b>']);
    expect(found("'A|B|k:it's here' x")).toEqual(["A|B|k:it's here"]);
    expect(found(String.raw`{"t":"A|B|k:a\tb"}`)).toEqual(['! A|B|k:a\tb']);
  });

  test('with spaces in a value that is followed by a field', () => {
    expect(found('Send FETCH|HR|res:two words|p:1 now.')).toEqual(['FETCH|HR|res:two words|p:1']);
    expect(found('Send FETCH|HR|res:two words | p:1 now.')).toEqual(['! FETCH|HR|res:two words | p:1']);
  });

  test('with the brackets and punctuation that belong to it', () => {
    expect(found('(see FETCH|HR|res:f(x)).')).toEqual(['FETCH|HR|res:f(x)']);
    expect(found('see FETCH|HR|res:https://x.y/z?a=b, then')).toEqual(['FETCH|HR|res:https://x.y/z?a=b']);
    expect(found('see FETCH|HR|period:2024-08.')).toEqual(['FETCH|HR|period:2024-08']);
  });

  test('beside quoted words', () => {
    expect(found(`The "user" said ${PACKET} and more.`)).toEqual([PACKET]);
    expect(found(`The "user" ${PACKET} and more.`)).toEqual([PACKET]);
  });
});

describe('nothing is found', () => {
  test.each([
    'FETCH|HR',
    'FETCH|HR|',
    'FETCH|HR|slot',
    'FETCH|HR|K:v',
    'fetch|hr|return:A',
    'xFETCH|HR|return:A',
    'A-B_|FETCH|HR|return:A',
    'FETCH | HR | return:A',
    'a || b',
    '',
  ])('in %j', (source) => {
    expect(found(source)).toEqual([]);
  });

  test.each([
    ['with outer bars', '| A | B | c |\n|---|---|---|\n| X|Y|z: | 1 |'],
    ['without outer bars', 'A|B|c:\n--|--|--\nX|Y|z:1\n'],
    ['with alignment', 'A|B|c:\n:--|:-:|--:\nX|Y|z:1'],
    ['with line ends of Windows', 'A|B|c:\r\n--|--|--\r\nX|Y|z:1\r\n'],
    ['of a single row', '| FETCH|HR|return:A |'],
    ['with quotes in a cell before', '| "q" | FETCH|HR|return:A |'],
  ])('in a table %s', (_name, source) => {
    expect(found(source)).toEqual([]);
  });

  test('but a packet after the end of a table is found', () => {
    expect(found(`a|b\n-|-\n1|2\n\n${PACKET}`)).toEqual([PACKET]);
  });
});

describe('a text that was meant as a packet is reported with its error', () => {
  test.each<[source: string, text: string, code: string]>([
    ['see FETCH|HR|return:A||p:1', 'FETCH|HR|return:A||p:1', 'empty-field'],
    ['see FETCH|HR|return:A|slot ok', 'FETCH|HR|return:A|slot', 'malformed-field'],
    ['FETCH|HR|return:A|P:1', 'FETCH|HR|return:A|P:1', 'bad-key'],
    ['FETCH|HR|return: A', 'FETCH|HR|return: A', 'whitespace'],
    ['FETCH|HR|return:A\x07', 'FETCH|HR|return:A\x07', 'control-character'],
    ['"FETCH|HR|return:A|" x', 'FETCH|HR|return:A|', 'empty-field'],
    ['FETCH|HR|return:A|\nx', 'FETCH|HR|return:A|', 'empty-field'],
  ])('%j', (source, text, code) => {
    const [item, ...more] = findPackets(source);
    expect(more).toEqual([]);
    expect(read(item!, source)).toBe(text);
    expect(item!.ok || item!.error.code).toBe(code);
  });

  test('and the packets after it are found', () => {
    expect(found(`FETCH|HR|p:1|\n${PACKET} x FETCH|HR|p:|q ${PACKET}`)).toEqual([
      '! FETCH|HR|p:1|',
      PACKET,
      '! FETCH|HR|p:|q',
      PACKET,
    ]);
  });
});

describe('escapes in JSON strings are decoded as JSON', () => {
  test.each([
    ['a quote', '{"m":"FETCH|HR|res:say \\"hi\\" twice"}', 'FETCH|HR|res:say "hi" twice'],
    ['a code unit', '{"m":"FETCH|HR|res:caf\\u00e9"}', 'FETCH|HR|res:caf\u00e9'],
    ['a backslash', '{"m":"FETCH|HR|res:C:\\\\dir x"}', 'FETCH|HR|res:C:\\dir x'],
    ['a line of its own', '{"m":"first\\nFETCH|HR|res:a b\\nlast"}', 'FETCH|HR|res:a b'],
    ['a line of its own, of Windows', '{"m":"first\\r\\nFETCH|HR|res:a b\\r\\nlast"}', 'FETCH|HR|res:a b'],
    ['a sentence', '{"m":"say \\u2192 FETCH|HR|res:a b\\n"}', 'FETCH|HR|res:a'],
    ['quotes around the packet', '{"m":"say \\"FETCH|HR|res:a b\\" now"}', 'FETCH|HR|res:a b'],
  ])('%s', (_name, source, packet) => {
    const [item, ...more] = findPackets(source);
    expect(more).toEqual([]);
    expect(read(item!, source)).toBe(packet);
    expect(item!.ok && item!.value).toEqual(parsePacket(packet));
    expect(JSON.parse(`"${item!.text}"`)).toBe(packet);
  });

  test('the span of an error refers to the decoded text', () => {
    const [item] = findPackets('{"m":"FETCH|HR|res:\\u0041|"}');
    expect(item!.decoded).toBe('FETCH|HR|res:A|');
    expect(item!.ok || item!.error.span).toEqual({ start: 15, end: 15 });
  });
});

test('accepts the options of the parser', () => {
  expect(findPackets('FETCH|HR|p:1||', { dialect: 'tolerant' })).toMatchObject([{ ok: true }]);
  expect(findPackets('x FETCH|HR|p:1', { spans: true })).toMatchObject([{ value: { span: { start: 0, end: 12 } } }]);
  expect(findPackets('FETCH|HR|p:1', { maxItems: 0 })).toMatchObject([{ error: { reason: 'limit' } }]);
  expect(() => findPackets(PACKET, { dialect: 'x' as 'strict' })).toThrow(TypeError);
  expect(() => findPackets(null as unknown as string)).toThrow(new TypeError('text must be a string; got object'));
});

describe('for random packets in random prose', () => {
  const prose = fc.array(
    fc.constantFrom('Send', 'this:', '(see', 'HR', '-', '[x]', '\u{1f600}', '3 > 2', '\u00e9.', 'A/B'),
    {
      maxLength: 4,
    },
  );
  // A match starts at the first field.
  const printed = packets.filter(({ fields }) => fields.length > 0).map(printPacket);
  const trimmed = printed.filter((packet) => packet === packet.trim());
  const prefixes = fc.constantFrom('', '  ', '- ', '* ', '> ', '1. ', '\t');

  test('finds each packet on its own line', () => {
    const lines = fc.array(fc.tuple(prefixes, trimmed, prose), { maxLength: 4 });
    const law = fc.property(lines, fc.constantFrom('\n', '\r\n'), (list, lineEnd) => {
      const text = list.flatMap(([prefix, packet, words]) => [prefix + packet, words.join(' ')]).join(lineEnd);
      expect(found(text)).toEqual(list.map(([, packet]) => packet));
    });
    fc.assert(law, { numRuns: 300 });
  });

  test('finds each packet in inline code, whatever surrounds it', () => {
    const quoteless = trimmed.filter((packet) => !/[`"]/.test(packet));
    const law = fc.property(fc.array(fc.tuple(prose, quoteless, prose), { maxLength: 4 }), (list) => {
      const text = list.map(([before, packet, after]) => [...before, `\`${packet}\``, ...after].join(' ')).join(' ');
      expect(found(text)).toEqual(list.map(([, packet]) => packet));
    });
    fc.assert(law, { numRuns: 500 });
  });

  test('finds a packet without white space that ends in a word, in running prose', () => {
    const wordlike = printed.filter((packet) => /^[^\s"]*\w$/.test(packet));
    const words = prose.map((list) => ['Send', ...list]);
    const law = fc.property(fc.array(fc.tuple(words, wordlike, prose), { maxLength: 4 }), (list) => {
      const text = list.map(([before, packet, after]) => [...before, packet, ...after].join(' ')).join('\n');
      expect(found(text)).toEqual(list.map(([, packet]) => packet));
    });
    fc.assert(law, { numRuns: 500 });
  });

  test('finds each packet in a JSON string', () => {
    const law = fc.property(trimmed, (packet) => {
      expect(found(JSON.stringify({ before: 'x', packet, after: 'y' }))).toEqual([packet]);
    });
    fc.assert(law, { numRuns: 300 });
  });
});
