import { describe, expect, test } from 'vitest';
import type { Frame, Param, Value } from '../../src/accp/ast.js';
import { canonicalizeFrame, type Dialect, parseFrame, printFrame, tryParseFrame } from '../../src/accp/index.js';
import { writeFrame } from '../../src/accp/writer.js';
import { accpCases } from './fixtures.js';

const CASES = accpCases();
const ACCEPTED = CASES.filter(({ canonical }) => canonical !== undefined);
const REFUSED = CASES.filter(({ error }) => error !== undefined);
const DIALECTS: readonly Dialect[] = ['strict', 'lenient'];

describe.each(ACCEPTED)('$id', ({ input, dialect, ast, canonical, sorted }) => {
  const frame = (): Frame => parseFrame(input, { dialect });

  test('is read and printed', () => {
    if (ast !== undefined) expect(inFixtureForm(frame())).toEqual(ast);
    for (const print of [printFrame, writeFrame]) {
      expect(print(frame())).toBe(canonical);
      if (sorted !== undefined) expect(print(frame(), { sortParams: true })).toBe(sorted);
    }
  });

  test.each(DIALECTS)('its canonical text is a %s frame: the canonical node, which prints as that text', (reader) => {
    const again = parseFrame(printFrame(frame()), { dialect: reader });
    expect(again).toEqual(canonicalizeFrame(frame()));
    expect(printFrame(again)).toBe(canonical);
  });

  test('another spelling of it prints the same', () => {
    expect(printFrame(respelled(frame()))).toBe(canonical);
  });
});

test.each(REFUSED)('$id', ({ input, dialect, error }) => {
  const result = tryParseFrame(input, { dialect });
  // Ours hits the places marked as approximate, too.
  expect(result.ok || { code: result.error.code, offset: result.error.span?.start }).toEqual({
    code: error?.code,
    offset: error?.offset,
  });
});

describe('a frame cut short, or with one character missing, is read or refused', () => {
  test.each(ACCEPTED.filter(({ input }) => input.length <= 300))('$id', ({ input }) => {
    for (const dialect of DIALECTS) {
      expect(mutilations(input).filter((text) => !isAnswered(text, dialect))).toEqual([]);
    }
  });
});

/** A tree as JSON can write it: big integers and infinities as strings. */
function inFixtureForm(node: Frame): unknown {
  const written = (_key: string, value: unknown): unknown =>
    typeof value === 'bigint' || value === Infinity || value === -Infinity ? String(value) : value;
  return JSON.parse(JSON.stringify(node, written));
}

/** The same message, written otherwise: maps and metadata backwards, numbers with idle zeros. */
function respelled({ payload, metadata, ...head }: Frame): Frame {
  return {
    ...head,
    payload: payload.map(respelledParam),
    metadata: metadata?.map((param) => (isIdentifier(param) ? param : respelledParam(param))).toReversed() ?? null,
  };
}

/** Identifiers are text, whatever their digits look like: another spelling is another identifier. */
function isIdentifier({ key }: Param): boolean {
  return ['mid', 'cid', 'aid', 'sid'].includes(key);
}

function respelledParam({ key, value }: Param): Param {
  return { key, value: respelledValue(value) };
}

function respelledValue(node: Value): Value {
  switch (node.kind) {
    case 'integer':
      return { ...node, text: padded(node.text ?? String(node.value)) };
    case 'decimal': {
      const digits = node.text ?? String(node.value);
      return /^-?\d+\.\d+$/.test(digits) ? { ...node, text: `${padded(digits)}0` } : node;
    }
    case 'array':
      return { ...node, items: node.items.map(respelledValue) };
    case 'map':
      return { ...node, entries: node.entries.map(respelledParam).toReversed() };
    default:
      return node;
  }
}

/** With a leading zero, where that stays below the limit on digits. */
function padded(digits: string): string {
  return digits.length < 900 ? digits.replace(/^-?/, '$&0') : digits;
}

function mutilations(text: string): readonly string[] {
  const places = Array.from({ length: text.length }, (_, at) => at);
  const variants = places.flatMap((at) => [text.slice(0, at), text.slice(0, at) + text.slice(at + 1)]);
  return [...new Set(variants)];
}

/** A frame, or an error with the draft's code that points into the text. */
function isAnswered(text: string, dialect: Dialect): boolean {
  const result = tryParseFrame(text, { dialect });
  if (result.ok) return result.value.kind === 'frame';
  const { code, span } = result.error;
  return code === 'E1001' && span !== null && 0 <= span.start && span.start <= span.end && span.end <= text.length;
}
