import { describe, expect, test } from 'vitest';
import type { Frame, Param, Value } from '../../src/accp/ast.js';
import { canonicalizeFrame, type Dialect, parseFrame, printFrame, tryParseFrame } from '../../src/accp/index.js';
import { accpCases } from './fixtures.js';

const CASES = accpCases();
const ACCEPTED = CASES.filter(({ canonical }) => canonical !== undefined);
const REJECTED = CASES.filter(({ error }) => error !== undefined);
const DIALECTS: readonly Dialect[] = ['strict', 'lenient'];

describe.each(ACCEPTED)('$id', ({ input, dialect, ast, canonical, sorted }) => {
  const frame = (): Frame => parseFrame(input, { dialect });

  test('is read and printed', () => {
    if (ast !== undefined) expect(inFixtureForm(frame())).toEqual(ast);
    expect(printFrame(frame())).toBe(canonical);
    if (sorted !== undefined) expect(printFrame(frame(), { sortParams: true })).toBe(sorted);
  });

  test.each(DIALECTS)(
    'its canonical text parses in the %s dialect as the canonical node, and prints as itself',
    (reader) => {
      const again = parseFrame(printFrame(frame()), { dialect: reader });
      expect(again).toEqual(canonicalizeFrame(frame()));
      expect(printFrame(again)).toBe(canonical);
    },
  );

  test('another spelling of the frame has the same canonical text', () => {
    expect(printFrame(respelled(frame()))).toBe(canonical);
  });
});

test.each(REJECTED)('$id', ({ input, dialect, error }) => {
  const result = tryParseFrame(input, { dialect });
  // pegwire reports the positions that are marked as approximate, too.
  expect(result.ok || { code: result.error.code, offset: result.error.span?.start }).toEqual({
    code: error?.code,
    offset: error?.offset,
  });
});

describe('a truncated frame, or one with a character missing, is parsed or rejected', () => {
  test.each(ACCEPTED.filter(({ input }) => input.length <= 300))('$id', ({ input }) => {
    for (const dialect of DIALECTS) {
      expect(mutants(input).filter((text) => !isHandled(text, dialect))).toEqual([]);
    }
  });
});

/** Converts a tree to JSON: big integers and infinities become strings. */
function inFixtureForm(node: Frame): unknown {
  const written = (_key: string, value: unknown): unknown =>
    typeof value === 'bigint' || value === Infinity || value === -Infinity ? String(value) : value;
  return JSON.parse(JSON.stringify(node, written));
}

/** Returns another spelling of a frame: maps and metadata reversed, numbers with redundant zeros. */
function respelled({ payload, metadata, ...head }: Frame): Frame {
  return {
    ...head,
    payload: payload.map(respelledParam),
    metadata: metadata?.map((param) => (isIdentifier(param) ? param : respelledParam(param))).toReversed() ?? null,
  };
}

/** Returns whether a parameter is an identifier, whose digits are text and have only one spelling. */
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

/** Adds a leading zero, unless the number would exceed the limit on digits. */
function padded(digits: string): string {
  return digits.length < 900 ? digits.replace(/^-?/, '$&0') : digits;
}

/** Returns all truncations of a text, and all texts with one character missing. */
function mutants(text: string): readonly string[] {
  const offsets = Array.from({ length: text.length }, (_, at) => at);
  const variants = offsets.flatMap((at) => [text.slice(0, at), text.slice(0, at) + text.slice(at + 1)]);
  return [...new Set(variants)];
}

/** Returns whether a text parses, or is rejected with the draft's code and a span inside the text. */
function isHandled(text: string, dialect: Dialect): boolean {
  const result = tryParseFrame(text, { dialect });
  if (result.ok) return result.value.kind === 'frame';
  const { code, span } = result.error;
  return code === 'E1001' && span !== null && 0 <= span.start && span.start <= span.end && span.end <= text.length;
}
