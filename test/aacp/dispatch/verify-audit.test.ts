import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AuditRecord, memoryAudit, verifyAudit } from '../../../src/aacp/dispatch/index.js';
import { anyString } from '../../helpers/hostile.js';
import { runs } from '../../helpers/runs.js';
import { entry, tickingClock } from './entries.js';

const GENESIS = '0'.repeat(64);

async function logOf(count: number): Promise<{ lines: string[]; records: readonly AuditRecord[]; text: string }> {
  const audit = memoryAudit({ now: tickingClock() });
  for (let number = 1; number <= count; number++) {
    await audit.append(entry(`ACK|HR|return:A|org_n:${number}`, { codes: ['unknown-key'], actor: 'J\u00f6rg \u202e' }));
  }
  const text = audit.text();
  return { text, lines: text.trimEnd().split('\n'), records: audit.records() };
}

test('an unmodified log verifies, as a text and as lines, and its head is the last record', async () => {
  const { text, lines, records } = await logOf(3);
  const whole = { ok: true, records: 3, firstFault: null, head: records[2]!.chain };
  expect(verifyAudit(text)).toEqual(whole);
  expect(verifyAudit(lines)).toEqual(whole);
  expect(records.map(({ seq, time, previous }) => [seq, time, previous])).toEqual([
    [1, '2026-08-31T00:00:01.000Z', GENESIS],
    [2, '2026-08-31T00:00:02.000Z', records[0]!.chain],
    [3, '2026-08-31T00:00:03.000Z', records[1]!.chain],
  ]);
  expect(lines.map((line) => JSON.parse(line))).toEqual(records);
});

test('an empty log verifies', () => {
  expect(verifyAudit('')).toEqual({ ok: true, records: 0, firstFault: null, head: GENESIS });
  expect(verifyAudit([])).toEqual({ ok: true, records: 0, firstFault: null, head: GENESIS });
});

test('a change to any byte of a log is found', async () => {
  const { text } = await logOf(3);
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0; at < bytes.length; at++) {
    const bent = Buffer.from(bytes);
    bent[at]! ^= [0x01, 0x20, 0x80][at % 3]!;
    const { ok, records } = verifyAudit(bent.toString('latin1'));
    expect([at, ok]).toEqual([at, false]);
    expect(records).toBe(text.slice(0, at).split('\n').length - 1);
  }
});

describe('tampering is found:', () => {
  test.each<[string, (lines: string[]) => readonly string[], number, string]>([
    ['a missing record', ([a, , c]) => [a!, c!], 2, 'sequence'],
    ['a missing first record', ([, b, c]) => [b!, c!], 1, 'sequence'],
    ['a record put in twice', ([a, b, c]) => [a!, b!, b!, c!], 3, 'sequence'],
    ['two records in another order', ([a, b, c]) => [a!, c!, b!], 2, 'sequence'],
    ['an empty line', ([a, b, c]) => [a!, '', b!, c!], 2, 'not-a-record'],
    ['another value', ([a, b, c]) => [a!, b!.replace('org_n:2', 'org_n:9'), c!], 2, 'chain'],
    ['another time', ([a, b, c]) => [a!, b!.replace('00:00:02', '00:00:03'), c!], 2, 'chain'],
    ['another spelling', ([a, b, c]) => [a!, b!.replace('{"seq"', '{ "seq"'), c!], 2, 'not-a-record'],
    ['a member more', ([a, b, c]) => [a!, b!.replace('{', '{"x":1,'), c!], 2, 'not-a-record'],
    ['a member twice', ([a, b, c]) => [a!, b!.replace('{', '{"seq":9,'), c!], 2, 'not-a-record'],
    ['members in another order', ([a, b, c]) => [a!, JSON.stringify(swapped(JSON.parse(b!))), c!], 2, 'not-a-record'],
    ['no record', ([a]) => [a!, '{}', '[]'], 2, 'not-a-record'],
  ])('%s', async (_name, tamper, line, reason) => {
    const { lines } = await logOf(3);
    const bent = tamper(lines);
    expect(verifyAudit(bent)).toMatchObject({ ok: false, records: line - 1, firstFault: { line, reason } });
    expect(verifyAudit(bent.map((text) => `${text}\n`).join(''))).toMatchObject({ firstFault: { line, reason } });
  });

  test('a record of another log in the place of a record', async () => {
    const { lines } = await logOf(3);
    const other = memoryAudit({ now: tickingClock() });
    await other.append(entry('first'));
    await other.append(entry('second'));
    const foreign = other.text().split('\n')[1]!;
    expect(verifyAudit([lines[0]!, foreign, lines[2]!])).toMatchObject({ firstFault: { line: 2, reason: 'previous' } });
  });
});

function swapped({ seq, time, ...rest }: AuditRecord): unknown {
  return { time, seq, ...rest };
}

describe('a torn end', () => {
  test('is distinguished from tampering, wherever it is', async () => {
    const { text, lines, records } = await logOf(3);
    const first = text.length - lines[2]!.length;
    for (let end = first; end < text.length; end++) {
      expect(verifyAudit(text.slice(0, end))).toEqual({
        ok: false,
        records: 2,
        firstFault: { line: 3, reason: 'torn-end' },
        head: records[1]!.chain,
      });
    }
    expect(verifyAudit([...lines.slice(0, 2), lines[2]!.slice(0, 50)]).firstFault).toEqual({
      line: 3,
      reason: 'torn-end',
    });
  });
});

describe('a log that was cut off at the end of a line', () => {
  test('verifies, unless the head of an earlier time is given', async () => {
    const { lines, records } = await logOf(3);
    const cut = lines.slice(0, 2);
    expect(verifyAudit(cut).ok).toBe(true);
    expect(verifyAudit(cut, { head: records[2]!.chain })).toMatchObject({
      ok: false,
      records: 2,
      firstFault: { line: 3, reason: 'head' },
    });
    expect(verifyAudit([], { head: records[2]!.chain }).firstFault).toEqual({ line: 1, reason: 'head' });
  });

  test('is found after further records', async () => {
    const { records } = await logOf(3);
    const anew = memoryAudit();
    for (let number = 0; number < 5; number++) await anew.append(entry('another'));
    expect(verifyAudit(anew.text(), { head: records[2]!.chain }).firstFault).toEqual({ line: 6, reason: 'head' });
  });

  test('a log that has grown still has its earlier heads', async () => {
    const { lines, records } = await logOf(4);
    for (const { chain } of records) expect(verifyAudit(lines, { head: chain }).ok).toBe(true);
    expect(verifyAudit(lines, { head: GENESIS }).ok).toBe(true);
  });

  test.each(['', 'abc', 5, 'A'.repeat(64)])('the head %j is a TypeError', (head) => {
    expect(() => verifyAudit([], { head: head as never })).toThrow(/^head must/);
  });
});

test.each([undefined, null, 5, [5]])('the log %j is a TypeError', (log) => {
  expect(() => verifyAudit(log as never)).toThrow(TypeError);
});

test('any text verifies or has a fault', () => {
  const law = fc.property(anyString, (text) => {
    const { ok, firstFault, records } = verifyAudit(text);
    expect([ok, records]).toEqual([text === '', 0]);
    if (!ok) expect(firstFault!.line).toBe(1);
  });
  fc.assert(law, runs(300));
});

test('any text can be recorded in ASCII and read back', async () => {
  const law = fc.asyncProperty(anyString, anyString, async (packet, reason) => {
    const audit = memoryAudit({ now: tickingClock() });
    await audit.append(entry(packet, { reason }));
    expect(audit.text()).toMatch(/^[ -~]*\n$/);
    expect(verifyAudit(audit.text()).ok).toBe(true);
    expect(JSON.parse(audit.text())).toMatchObject({ packet, reason });
  });
  await fc.assert(law, runs(200));
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, -1e15, 1e15, undefined])(
  'a clock that returns %d is an error, and nothing is recorded',
  async (now) => {
    const audit = memoryAudit({ now: () => now as number });
    await expect(audit.append(entry('x'))).rejects.toThrow(TypeError);
    expect(audit.records()).toEqual([]);
  },
);
