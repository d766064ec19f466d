/** Tests the oracles on the fixtures alone; their agreement with the production parsers is tested elsewhere. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Packet } from '../../src/aacp/ast.js';
import type { Value } from '../../src/accp/ast.js';
import { sized } from '../helpers/runs.js';
import { parseWithOhm as readPacket } from './aacp.js';
import { parseWithOhm as readFrame } from './accp.js';

interface Fixture {
  readonly id: string;
  readonly input: string;
  readonly dialect: 'strict' | 'lenient';
  readonly ast?: unknown;
  /** Present only for accepted cases. */
  readonly canonical?: string;
}

const FIXTURES = new URL('../conformance/accp/', import.meta.url);

/** JSON has neither big integers nor Infinity, so the fixtures write both as strings. */
function fromJson(_name: string, node: { kind?: unknown; value?: unknown } | null): unknown {
  if (typeof node?.value !== 'string') return node;
  if (node.kind === 'integer') return { ...node, value: BigInt(node.value) };
  if (node.kind === 'decimal') return { ...node, value: Number(node.value) };
  return node;
}

const fixtures = readdirSync(FIXTURES)
  .filter((name) => name.endsWith('.json') && !name.endsWith('.schema.json'))
  .flatMap((name) => JSON.parse(readFileSync(new URL(name, FIXTURES), 'utf8'), fromJson).cases as Fixture[]);

function value(source: string): Value | undefined {
  return readFrame(`@a>req:x{v:${source}}`, 'strict')?.payload[0]?.value;
}

describe('ACCP', () => {
  test('there are fixtures', () => {
    expect(fixtures.length).toBeGreaterThan(0);
  });

  test.each(fixtures)('$id', ({ input, dialect, ast, canonical }) => {
    const frame = readFrame(input, dialect);
    expect(frame === null ? 'refused' : 'accepted').toBe(canonical === undefined ? 'refused' : 'accepted');
    if (ast !== undefined) expect(frame).toStrictEqual(ast);
  });

  // Ohm takes a second for the longest.
  const longest = sized(4_000, Number.POSITIVE_INFINITY);

  test.each(fixtures.filter(({ canonical }) => canonical !== undefined && canonical.length < longest))(
    'canonical text of $id',
    ({ canonical = '' }) => {
      const frame = readFrame(canonical, 'strict');
      expect(frame).not.toBeNull();
      expect(readFrame(canonical, 'lenient')).toStrictEqual(frame);
    },
  );

  test('depth is limited on request', () => {
    const nested = (depth: number) => `@a>req:x{v:${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect(readFrame(nested(1), 'strict', { maxDepth: 0 })).toBeNull();
    expect(readFrame(nested(8), 'strict', { maxDepth: 8 })).not.toBeNull();
    expect(readFrame(nested(9), 'strict', { maxDepth: 8 })).toBeNull();
    expect(readFrame('@a>req:x{v:\\[\\[}[t:\\{\\{]', 'strict', { maxDepth: 0 })).not.toBeNull();
  });

  test('digits are limited in numbers, and only there', () => {
    const limits = { maxDigits: 4 };
    expect(readFrame('@a>req:x{v:[-0012,-00.12]}', 'strict', limits)).not.toBeNull();
    expect(readFrame('@a>req:x{v:[00012]}', 'strict', limits)).toBeNull();
    expect(readFrame('@a>req:x{}[t:{a:000.12}]', 'strict', limits)).toBeNull();
    expect(readFrame('@a9999>req:x99999{k99999:12345a|r:$12345}', 'strict', limits)).not.toBeNull();
    expect(readFrame('@a>req:x{v:[12345:12345,@12345:12345]}', 'lenient', limits)).not.toBeNull();
  });

  test.each([
    // Halfway between two doubles, and slightly above.
    ['9007199254740993.0', 9007199254740992],
    ['9007199254740993.0000000000000000000000000001', 9007199254740994],
    // The ends of the range: the largest double, the first text that rounds beyond it, the smallest, and half of it.
    [`${2n ** 1024n - 2n ** 970n - 1n}.9`, Number.MAX_VALUE],
    [`-${2n ** 1024n - 2n ** 970n}.0`, -Infinity],
    [`0.${'0'.repeat(323)}5`, Number.MIN_VALUE],
    [`-0.${'0'.repeat(323)}2`, 0],
  ])('the double nearest to %s', (source, expected) => {
    expect(value(source)).toStrictEqual({ kind: 'decimal', value: expected, text: source });
  });

  test.each([
    ['0.1', undefined],
    ['-1.000001', undefined],
    ['1000000000000000000000.0', undefined],
    ['12345678901234567890.5', '12345678901234567890.5'],
    ['0.0000001', '0.0000001'],
    ['1.0000000', '1.0000000'],
  ])('source text kept of %s', (source, text) => {
    expect(value(source)).toStrictEqual({ kind: 'decimal', value: Number(source), ...(text && { text }) });
  });
});

describe('AACP', () => {
  const packet = (task: string, domain: string, ...fields: Packet['fields']): Packet => ({
    kind: 'packet',
    task,
    domain,
    fields,
  });

  test.each([
    'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:2024-08|filter:status=active|fmt:json',
    'LOG|HR|return:AUD-Agent|p:2|aacp:1.1|actor:ORCHESTRATOR|chain:HR-AGENT,FIN-AGENT|status:review_required',
    'X-9_A|Y',
    'A|B|k:x|k:x|k:',
    'A|B|att:rpt://payroll/2024-08:pdf|note:two words, no  more',
    'A|B|k:\u00a0\u2028\ud800|l:\udc00\ud83d\ude00',
  ])('the dialects agree on %j', (text) => {
    const [task = '', domain = '', ...slots] = text.split('|');
    const fields = slots.map((slot) => {
      const colon = slot.indexOf(':');
      return { key: slot.slice(0, colon), value: slot.slice(colon + 1) };
    });
    expect(readPacket(text, 'strict')).toStrictEqual(packet(task, domain, ...fields));
    expect(readPacket(text, 'tolerant')).toStrictEqual(packet(task, domain, ...fields));
  });

  test.each([
    ['', packet('', '')],
    ['FETCH', packet('FETCH', '')],
    ['|', packet('', '')],
    ['A|B|', packet('A', 'B', { key: '', value: '', bare: true })],
    ['A||k:v', packet('A', '', { key: 'k', value: 'v' })],
    ['a:1|hr', packet('a:1', 'hr')],
    ['\u00c4|B', packet('\u00c4', 'B')],
    ['9A|B', packet('9A', 'B')],
    ['A|B|k', packet('A', 'B', { key: '', value: 'k', bare: true })],
    ['A|B|:v', packet('A', 'B', { key: '', value: 'v' })],
    ['A|B|K:v', packet('A', 'B', { key: 'K', value: 'v' })],
    ['A|B|a-b:v', packet('A', 'B', { key: 'a-b', value: 'v' })],
    ['A|B|k: v', packet('A', 'B', { key: 'k', value: 'v' })],
    ['A|B|k:v ', packet('A', 'B', { key: 'k', value: 'v' })],
    ['A|B|k: ', packet('A', 'B', { key: 'k', value: '' })],
    ['A|B|k:v\tw\u0000\u007f', packet('A', 'B', { key: 'k', value: 'v\tw\u0000\u007f' })],
    [
      ' A |\r\n B\t|\n a b : c : d \r\n| x  y | ',
      packet(
        'A',
        'B',
        { key: 'a b', value: 'c : d' },
        { key: '', value: 'x  y', bare: true },
        { key: '', value: '', bare: true },
      ),
    ],
  ])('only the tolerant dialect reads %j', (text, expected) => {
    expect(readPacket(text, 'strict')).toBeNull();
    expect(readPacket(text, 'tolerant')).toStrictEqual(expected);
  });
});
