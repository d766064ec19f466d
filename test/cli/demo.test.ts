import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { findPackets } from '../../src/aacp/find.js';
import {
  canonicalizePacket,
  explainPacket,
  parsePacket,
  printPacket,
  tryParsePacket,
  validatePacket,
} from '../../src/aacp/index.js';
import { findFrames } from '../../src/accp/find.js';
import { explainFrame, parseFrame, printFrame, tryParseFrame } from '../../src/accp/index.js';
import { accpCases, packetCases } from '../conformance/fixtures.js';
import { cli, jsonLines } from '../helpers/cli.js';

const ESCAPE = '\u001b';
const SOURCE = readFileSync('test/examples/conversation.txt', 'utf8')
  .split('\n')
  .map((text, index) => ({ text, number: index + 1 }))
  .filter(({ text }) => text !== '');
const TITLES = SOURCE.filter(({ text }) => /^# \d/.test(text)).map(({ text }) => text.slice(2));
const PROSE = SOURCE.filter(({ text }) => text.startsWith('> ')).map(({ text }) => text.slice(2));
const MESSAGES = SOURCE.filter(({ text }) => !/^[#>]/.test(text));
const FRAMES = MESSAGES.filter(({ text }) => text.startsWith('@')).map(({ text }) => text);
const PACKETS = MESSAGES.filter(({ text }) => !text.startsWith('@')).map(({ text }) => text);

const { code, stdout, stderr } = await cli(['demo', '--no-color']);
const SHOWN = stdout.split('\n');
const SUMMARY = SHOWN.slice(SHOWN.indexOf('Summary'));

/** What the summary should say of the frames, counted once more. */
function recountFrames() {
  const strict = FRAMES.filter((text) => tryParseFrame(text).ok);
  const lenient = FRAMES.filter((text) => !strict.includes(text) && tryParseFrame(text, { dialect: 'lenient' }).ok);
  const accepted = FRAMES.filter((text) => strict.includes(text) || lenient.includes(text));
  const canonical = accepted.map((text) => printFrame(parseFrame(text, { dialect: 'lenient' })));
  return {
    messages: FRAMES.length,
    strict: strict.length,
    otherDialect: lenient.length,
    withWarnings: 0,
    refused: FRAMES.length - accepted.length,
    characters: accepted.join('').length,
    canonicalCharacters: canonical.join('').length,
  };
}

function recountPackets() {
  const valid = PACKETS.filter((text) => validatePacket(text).valid);
  const strict = valid.filter((text) => tryParsePacket(text).ok);
  const canonical = valid.map((text) => printPacket(canonicalizePacket(parsePacket(text, { dialect: 'tolerant' }))));
  return {
    messages: PACKETS.length,
    strict: strict.length,
    otherDialect: valid.length - strict.length,
    withWarnings: valid.filter((text) => validatePacket(text).warnings.length > 0).length,
    refused: PACKETS.length - valid.length,
    characters: valid.join('').length,
    canonicalCharacters: canonical.join('').length,
  };
}

function recountProse() {
  const found = PROSE.flatMap((text) => [...findFrames(text), ...findPackets(text)]);
  return { inProse: found.length, broken: found.filter(({ ok }) => !ok).length };
}

test('the demo succeeds, and writes to stdout only', () => {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('it goes through the sections of the conversation in their order, and ends with a summary', () => {
  expect(TITLES.length).toBeGreaterThanOrEqual(8);
  expect(SHOWN.filter((line) => TITLES.includes(line) || line === 'Summary')).toEqual([...TITLES, 'Summary']);
});

test('it shows every message as it stands, with its line number', () => {
  const shown = SHOWN.flatMap((line) => {
    const match = /^ *(\d+) (\S.*)$/.exec(line);
    return match === null || line.includes(' | ') ? [] : [{ number: Number(match[1]), text: match[2]! }];
  });
  expect(shown).toEqual(MESSAGES);
});

test('it says of every message what it means, or what is wrong with it', () => {
  for (const { number, text } of MESSAGES) {
    const at = SHOWN.indexOf(`${String(number).padStart(3)} ${text}`);
    const next = SHOWN.findIndex((line, index) => index > at && !line.startsWith('    '));
    const story = SHOWN.slice(at + 1, next).join('\n');
    const frame = text.startsWith('@');
    if (frame ? !tryParseFrame(text, { dialect: 'lenient' }).ok : !validatePacket(text).valid) {
      expect(story).toMatch(/^ {4}error\[/m);
      expect(story).toContain(`--> conversation:${number}:`);
      expect(story).not.toContain('    means ');
    } else {
      const meaning = frame ? explainFrame(parseFrame(text, { dialect: 'lenient' })) : explainPacket(text);
      expect(story).toContain(`    means ${meaning}`);
      expect(story).not.toContain('error[');
    }
  }
});

test('it finds the messages in the lines of prose', () => {
  for (const text of PROSE) {
    expect(SHOWN).toContain(`  > ${text}`);
    for (const { start, end } of [...findFrames(text), ...findPackets(text)]) {
      expect(stdout).toMatch(new RegExp(`^ {4}${start}-${end} `, 'm'));
    }
  }
});

describe('the summary', () => {
  test('tells of at least 40 frames and 20 packets, and that some were refused', () => {
    expect(recountFrames().messages).toBeGreaterThanOrEqual(40);
    expect(recountPackets().messages).toBeGreaterThanOrEqual(20);
    expect(recountFrames().refused).toBeGreaterThan(0);
    expect(recountPackets().refused).toBeGreaterThan(0);
  });

  test.each([
    ['accp', 'frames', 'lenient', recountFrames()],
    ['aacp', 'packets', 'tolerant', recountPackets()],
  ] as const)('has the numbers that a recount gives: %s', (protocol, messages, other, counts) => {
    expect(SUMMARY).toContain(
      `${protocol}: ${counts.messages} ${messages}: ${counts.strict} strict, ${counts.otherDialect} ${other} only, ` +
        `${counts.refused} refused; ${counts.withWarnings} with warnings. ` +
        `${counts.characters} characters accepted, ${counts.canonicalCharacters} in canonical form.`,
    );
  });

  test('has the numbers that a recount gives: prose', () => {
    const { inProse, broken } = recountProse();
    expect(SUMMARY).toContain(`In prose and JSON: ${inProse} found, ${broken} of them broken.`);
  });
});

test('--json tells the same story, one JSON document a line', async () => {
  const json = await cli(['demo', '--json']);
  expect({ code: json.code, stderr: json.stderr }).toEqual({ code: 0, stderr: '' });
  const records = jsonLines(json.stdout);
  expect(records).toHaveLength(MESSAGES.length + PROSE.length + 1);
  expect(records.slice(0, MESSAGES.length)).toMatchObject(
    MESSAGES.map(({ number, text }) => ({
      line: number,
      text,
      protocol: text.startsWith('@') ? 'accp' : 'aacp',
      ok: text.startsWith('@') ? tryParseFrame(text, { dialect: 'lenient' }).ok : validatePacket(text).valid,
    })),
  );
  expect(records.at(-1)).toEqual({
    summary: { accp: recountFrames(), aacp: recountPackets(), ...recountProse() },
  });
});

test('no control character reaches the output, but line ends and the codes of colours', async () => {
  expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Co}]/u);
  const colored = await cli(['demo', '--color']);
  expect(colored.stdout).not.toBe(stdout);
  const codes = new RegExp(`${ESCAPE}\\[\\d+(?:;\\d+)*m`, 'g');
  expect(colored.stdout.replaceAll(codes, '').replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Co}]/u);
});

describe('the conversation holds the examples of the drafts', () => {
  /** The draft shows a block of metadata by itself there; the frame around it is the conformance case's own. */
  const NO_WHOLE_FRAME = 'frames/draft-3-5-example-metadata-block';
  const frames = accpCases().filter(({ id }) => /^(frames|lenient)\/draft-/.test(id) && id !== NO_WHOLE_FRAME);
  const packets = packetCases().filter(({ id }) => id.startsWith('draft-'));

  test('and there are as many as expected', () => {
    expect(frames.length).toBeGreaterThanOrEqual(20);
    expect(packets.length).toBeGreaterThanOrEqual(7);
  });

  // Identifiers and counters are those of the conversation, so metadata may differ.
  test.each(frames)('$id', ({ input }) => {
    const message = input.replace(/\}\[[^\]]*\]$/, '}');
    expect(FRAMES.filter((text) => text === message || text.startsWith(`${message}[`))).not.toEqual([]);
  });

  test.each(packets)('$id', ({ packet }) => {
    expect(PACKETS).toContain(packet);
  });
});
