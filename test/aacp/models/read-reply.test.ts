import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ReplyProblem, readReply } from '../../../src/aacp/models/read-reply.js';

const P = 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|fmt:json';
const WORDS = 'LOG|HR|return:HR-Agent|p:2|aacp:1.1|subj:quarter report, as agreed';
const OTHER = 'LOG|FIN|return:FIN-Agent|p:2|aacp:1.1|status:ok';
const json = (packet: unknown, more: object = {}): string => JSON.stringify({ packet, ...more });

const PACKETS: readonly [name: string, reply: string, packet?: string][] = [
  ['a bare line', P],
  ['a bare line with a line end', `${P}\n`],
  ['blank lines around', `\n\n  ${P}  \n\n`],
  ['a byte order mark', `\uFEFF${P}`],
  ['a value of several words', WORDS, WORDS],
  ['double quotes', `"${P}"`],
  ['single quotes', `'${P}'`],
  ['typographic quotes', `\u201C${P}\u201D`],
  ['backticks', `\`${P}\``],
  ['emphasis', `**${P}**`],
  ['a fence', `\`\`\`\n${P}\n\`\`\``],
  ['a fence with a language', `\`\`\`aacp\n${P}\n\`\`\``],
  ['a fence of tildes', `~~~text\n${P}\n~~~`],
  ['a longer fence around a shorter one', `\`\`\`\`\n\`\`\`\n${P}\n\`\`\`\n\`\`\`\``],
  ['a fence with CR LF', `\`\`\`\r\n${P}\r\n\`\`\`\r\n`],
  ['a fence with words of several', `Sure!\n\n\`\`\`\n${WORDS}\n\`\`\`\nDone.`, WORDS],
  ['JSON', json(P)],
  ['JSON with other members', json(P, { compression_loss: 'none', task: 'FETCH', token_estimate_packet: 24 })],
  ['JSON on several lines', JSON.stringify({ packet: P, loss_note: null }, null, 2)],
  ['JSON in a fence', `\`\`\`json\n${json(P)}\n\`\`\``],
  ['JSON in a fence, with prose around', `Here it is:\n\`\`\`json\n${json(P)}\n\`\`\`\nAnything else?`],
  ['JSON within prose', `The result is ${json(P)} as asked.`],
  ['JSON in a list', `[${json(P)}]`],
  ['JSON whose other members hold a packet', json(P, { loss_note: `unlike ${OTHER}` })],
  ['JSON with a member of a prototype', `{"__proto__": {"packet": 1}, ${json(P).slice(1)}`],
  ['JSON with another member than packet', `{"answer": ${JSON.stringify(P)}}`],
  ['a string in JSON', JSON.stringify(P)],
  ['a value with a quote, in JSON', json(`${P}|subj:say "hi"`), `${P}|subj:say "hi"`],
  ['a wrapped packet in JSON', json(P.replace('|res', '|\n  res'))],
  ['prose before', `Here is the packet:\n\n${P}`],
  ['prose after', `${P}\n\nI left the period out.`],
  ['prose before it on the same line', `Packet: ${P}`],
  ['a sentence that ends with it', `The packet is ${P}.`],
  ['brackets', `That makes one packet (${P}) in all.`],
  ['quotes within a sentence', `Send "${P}" to the agent.`],
  ['words of several, quoted within a sentence', `Send \`${WORDS}\` to the agent.`, WORDS],
  ['a list item', `- ${P}`],
  ['a quoted line', `> ${P}`],
  ['a tag', `<packet>${P}</packet>`],
  ['the same packet twice', `${P}\n\nAgain:\n\`\`\`\n${P}\n\`\`\``],
  ['the same packet twice, once cut by prose', `\`${WORDS}\` is to say ${WORDS} here.`, WORDS],
  ['wrapped after a bar', P.replaceAll('|p:', '|\np:').replace('|res', '|\n   res')],
  ['wrapped after each bar', P.replaceAll('|', '|\n')],
  ['wrapped after a bar, with blanks', P.replace('|res', '| \t\r\n\tres')],
  ['wrapped before a bar', P.replaceAll('|p:', '\n|p:').replace('|res', '\n  |res')],
  ['wrapped in a fence', `\`\`\`\n${P.replace('|res', '|\nres')}\n\`\`\``],
  ['thoughts before', `<think>Is it ${OTHER}? No.</think>\n${P}`],
  ['thoughts of another kind', `<Reasoning>${OTHER}</Reasoning>${P}`],
  ['thoughts that were begun in the prompt', `Maybe ${OTHER}.\n</think>\n\n${P}`],
  ['thoughts between', `${P}\n<thinking>or ${OTHER}</thinking>`],
  ['a packet with an error', 'FETCH|HR|return:HR-Agent|aacp:1.1|loose', 'FETCH|HR|return:HR-Agent|aacp:1.1|loose'],
  ['a lower-case packet, alone', 'fetch|hr|return:HR-Agent', 'fetch|hr|return:HR-Agent'],
  ['a packet without fields, in quotes', '"FETCH|HR"', 'FETCH|HR'],
  ['words with a bar', 'yes | no', 'yes | no'],
];

test.each(PACKETS)('finds the packet in %s', (_name, reply, packet = P) => {
  expect(readReply(reply)).toEqual({ packet });
});

const PROBLEMS: readonly (readonly [name: string, reply: string, problem: ReplyProblem])[] = [
  ['nothing', '', 'empty'],
  ['white space', ' \n\t', 'empty'],
  ['a refusal', 'I cannot help with that.', 'no-packet'],
  ['prose with bars', 'One could say yes | no,\nor nothing at all.', 'no-packet'],
  ['JSON without a packet', '{"error": "unclear instruction"}', 'no-packet'],
  ['JSON with null', json(null), 'no-packet'],
  ['JSON with an empty packet', json('  '), 'no-packet'],
  ['JSON with an object', json({ task: 'FETCH' }), 'no-packet'],
  ['thoughts without an end', `<think>It would be\n${P}`, 'no-packet'],
  ['a Markdown table', `| a | b |\n|---|---|\n| FETCH | HR |`, 'no-packet'],
  ['two packets', `${P}\n${OTHER}`, 'several-packets'],
  ['two packets that differ in one character', `${P}\n${P}x`, 'several-packets'],
  ['two packets in JSON', `[${json(P)}, ${json(OTHER)}]`, 'several-packets'],
  ['one in JSON and another one in prose', `${json(P)}\nor else\n${OTHER}`, 'several-packets'],
  ['one in a fence and another one in prose', `\`\`\`\n${P}\n\`\`\`\nor else\n${OTHER}`, 'several-packets'],
  ['a packet that continues in prose', `The packet is ${P} and nothing else.`, 'unclear-end'],
  ['a packet of words within a sentence', `The packet is: ${WORDS}`, 'unclear-end'],
  ['JSON that was cut off', json(P).slice(0, -8), 'unclear-end'],
  ['a quote that was cut off', `It is "${P}`, 'unclear-end'],
  ['a fence that was cut off', `\`\`\`\n${P}`, 'unclear-end'],
];

test.each(PROBLEMS)('finds no packet in %s', (_name, reply, problem) => {
  expect(readReply(reply)).toEqual({ problem, message: expect.stringMatching(/^[A-Z].*\.$/) });
});

test('a text of any content is accepted', () => {
  const piece = fc.oneof(
    fc.constantFrom(P, OTHER, json(P), '```', '```json\n', '<think>', '</think>', '\n', '|', '"', '{', '}', '`', '\\'),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const result = readReply(pieces.join(''));
      expect(Object.keys(result).toSorted()).toEqual('packet' in result ? ['packet'] : ['message', 'problem']);
    }),
  );
});

test('an argument that is not a text is a TypeError', () => {
  expect(() => readReply(undefined as unknown as string)).toThrow(
    new TypeError('text must be a string; got undefined'),
  );
});

describe('long replies', () => {
  const LENGTH = 200_000;
  const FAMILIES: readonly (readonly [name: string, unit: string])[] = [
    ['packets on one line', `${P} and `],
    ['packets on lines', `${OTHER}\n`],
    ['fences', '```\n'],
    ['backticks', '`'],
    ['quotes', '"a'],
    ['bars at line ends', '|\n'],
    ['wrapped fields', 'a:b|\n'],
    ['open thoughts', '<think>'],
    ['closed thoughts', '</think>'],
    ['braces and members', '{"packet"'],
    ['open brackets', '['],
    ['blanks', ' '],
  ];
  // With more than linear work, these tests would not finish.
  test.each(FAMILIES)('%s', (_name, unit) => {
    const text = `A|B|c:d${unit.repeat(Math.ceil(LENGTH / unit.length))}`;
    expect(readReply(text)).toBeTypeOf('object');
  });
});
