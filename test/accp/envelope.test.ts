/** Reading less than the whole frame: header and metadata only, or nothing but the verdict. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, recognize } from '../../generated/accp.js';
import {
  type Dialect,
  isFrame,
  type ParseOptions,
  parseFrame,
  parseFrameEnvelope,
  tryParseFrame,
  tryParseFrameEnvelope,
} from '../../src/accp/index.js';
import { accpCases } from '../conformance/fixtures.js';
import { frameMutants, frameTexts } from '../helpers/accp-arbitraries.js';
import { anyString } from '../helpers/hostile.js';
import { runs } from '../helpers/runs.js';
import { charactersRead, expectLinear, filled } from '../helpers/steps.js';

const DIALECTS: readonly Dialect[] = ['strict', 'lenient'];
const MEAN: ParseOptions = { maxLength: 60, maxDepth: 1, maxItems: 4, maxDigits: 3 };

/** Holds that all ways of reading agree on a text. */
function expectAgreement(text: string, options: ParseOptions): void {
  const whole = tryParseFrame(text, options);
  const envelope = tryParseFrameEnvelope(text, options);
  expect(isFrame(text, options)).toBe(whole.ok);
  expect(envelope.ok).toBe(whole.ok);
  if (whole.ok && envelope.ok) {
    const { payload, ...rest } = whole.value;
    expect(envelope.value).toStrictEqual({ ...rest, kind: 'envelope' });
  } else if (!whole.ok && !envelope.ok) {
    expect(envelope.error.toJSON()).toEqual(whole.error.toJSON());
    expect(envelope.error.format()).toBe(whole.error.format());
  }
}

describe.each(DIALECTS)('parser, envelope parser and recognizer agree in the %s dialect', (dialect) => {
  test.each([
    ['frames', frameTexts(dialect)],
    ['frames bent out of shape', frameMutants(dialect)],
    ['frames of the other dialect', frameTexts(dialect === 'strict' ? 'lenient' : 'strict')],
    ['random strings', anyString],
    ['random strings as a value', anyString.map((text) => `@a>req:x{k:${text}}`)],
  ])('on %s', (_name, texts) => {
    const options = fc.record({ spans: fc.boolean(), limits: fc.constantFrom({}, MEAN) });
    const agreement = fc.property(texts, options, (text, { spans, limits }) => {
      expectAgreement(text, { dialect, spans, ...limits });
    });
    fc.assert(agreement, runs(400));
  });

  test('on the conformance cases', () => {
    for (const { input } of accpCases()) {
      expectAgreement(input, { dialect });
      expectAgreement(input, { dialect, ...MEAN });
    }
  });
});

describe('an envelope', () => {
  const text = '@planner>req:schedule{task:impl_auth|tags:[a,{b:1}]}[mid:m1,seq:1]';

  test('has everything except the payload', () => {
    expect(parseFrameEnvelope(text)).toStrictEqual({
      kind: 'envelope',
      agent: 'planner',
      intent: 'req',
      operation: 'schedule',
      metadata: parseFrame(text).metadata,
    });
    expect(parseFrameEnvelope('@a>req:x{k:v}').metadata).toBeNull();
  });

  test('has the spans of the frame', () => {
    expect(parseFrameEnvelope(text, { spans: true }).span).toEqual({ start: 0, end: text.length });
  });

  test.each([
    ['@a>req:x{k:1|k:2}', 'duplicate-key'],
    ['@a>req:x{k:[[[[[[1]]]]]]}', 'limit'],
    ['@a>req:x{k:v:w}', 'syntax'],
  ])('is rejected for errors in the payload: %s', (bad, reason) => {
    expect(() => parseFrameEnvelope(bad)).toThrow(expect.objectContaining({ code: 'E1001', reason }));
  });
});

describe('an input that is not a string', () => {
  test.each([undefined, null, 42, ['@a>req:x{}'], Object('@a>req:x{}'), Symbol('@a>req:x{}')])(
    'is rejected',
    (input) => {
      expect(isFrame(input)).toBe(false);
      const result = tryParseFrameEnvelope(input as string);
      expect(result.ok || result.error.reason).toBe('not-a-string');
    },
  );
});

test.each([{ dialect: 'lenint' }, { maxDepth: -1 }, { maxLength: '5' }])(
  'the options %j are a TypeError',
  (options) => {
    for (const read of [isFrame, parseFrameEnvelope, tryParseFrameEnvelope]) {
      expect(() => read('@a>req:x{}', options as never)).toThrow(TypeError);
    }
  },
);

describe('more nesting than the call stack allows', () => {
  test.each(['[', '{a:', '[{a:'])('is rejected: %s', (piece) => {
    const options = { maxDepth: Number.POSITIVE_INFINITY };
    const text = `@a>req:x{k:${piece.repeat(100_000)}`;
    expect(isFrame(text, options)).toBe(false);
    const result = tryParseFrameEnvelope(text, options);
    expect(result.ok || result.error.message).toBe('Nesting is deeper than the call stack allows.');
  });

  test.each(['[', '{a:', '[{a:'])('never prevents an error message: %s', (piece) => {
    for (let depth = 500; depth < 12_000; depth += 500) {
      const text = `@a>req:x{k:${piece.repeat(depth)}`;
      const result = tryParseFrame(text, { maxDepth: Number.POSITIVE_INFINITY });
      expect(result.ok || result.error.message).toMatch(/^(?:Expected .*, found end of input|Nesting is deeper .*)\.$/);
    }
  });
});

describe.each(DIALECTS)('the time is linear in the text, in the %s dialect', (dialect) => {
  const options = { dialect, maxItems: Number.POSITIVE_INFINITY, maxDigits: Number.POSITIVE_INFINITY };
  const envelope = charactersRead(parse as never, { ...options, startRule: 'envelope' });
  const verdict = charactersRead(recognize as never, options);

  test.each([
    ['one long string', filled('@a>req:x{k:', 'v', '}')],
    ['many parameters', filled('@a>req:x{', (index) => `k${index}:v|`, 'z:v}')],
    ['a long list of metadata', filled('@a>req:x{}[', (index) => `k${index}:1,`, 'z:v]')],
    ['an array of integers', filled('@a>req:x{k:[', '12,', '1]}')],
    ['a map that never closes', filled('@a>req:x{k:{', (index) => `k${index}:v,`)],
    ['garbage behind the frame', filled('@a>req:x{k:v}', '{')],
  ])('%s', (_name, textOf) => {
    for (const steps of [envelope, verdict]) expectLinear(steps, textOf, [1_000, 10_000, 100_000, 1_000_000], 16);
  });
});
