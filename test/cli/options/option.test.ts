/** Parsers of option values. */
import { describe, expect, test } from 'vitest';
import { alternatives, duration, instant } from '../../../src/cli/options/option.js';
import { PROTOCOLS } from '../../../src/cli/protocols.js';

const PROTOCOL = PROTOCOLS[0]!;

describe('durations', () => {
  const read = (text: string, range?: Parameters<typeof duration>[0]): number =>
    duration(range)(text, 'timeout', PROTOCOL);

  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5s', 1500],
    ['.5s', 500],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['7d', 604_800_000],
    ['0s', 0],
    ['0.0004s', 0],
  ])('%s is %i milliseconds', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each(['30', '0', '1.5'])('%s lacks a unit', (text) => {
    expect(() => read(text)).toThrow(`got "${text}"; write ${text}s or ${text}ms`);
  });

  test.each(['', 's', '-1s', '1e3s', '1 s', '1w', '1S', '1.s', 'never', 'soon'])('%j is refused', (text) => {
    expect(() => read(text)).toThrow(
      `--timeout must be a duration such as 500ms, 30s, 2m, 1h or 7d; got ${JSON.stringify(text)}`,
    );
  });

  test('zero is refused where a duration must be positive', () => {
    expect(() => read('0s', { isPositive: true })).toThrow('--timeout must be greater than 0; got "0s"');
    expect(() => read('0.4ms', { isPositive: true })).toThrow('must be greater than 0');
  });

  test('a longest duration', () => {
    expect(read('60m', { max: '1h' })).toBe(3_600_000);
    expect(() => read('61m', { max: '1h' })).toThrow('--timeout must be at most 1h; got "61m"');
  });

  test('never, where it is accepted', () => {
    expect(read('never', { never: true })).toBe(Number.POSITIVE_INFINITY);
    expect(() => read('x', { never: true })).toThrow('or 7d, or never; got "x"');
  });
});

describe('instants', () => {
  const read = (text: string): number => instant(text, 'now', PROTOCOL);

  test.each([
    ['1970-01-01T00:00:00Z', 0],
    ['2024-05-01T00:00:00Z', 1_714_521_600_000],
    ['2024-05-01T00:00Z', 1_714_521_600_000],
    ['2024-05-01T02:00:00+02:00', 1_714_521_600_000],
    ['2024-05-01T00:00:00.250Z', 1_714_521_600_250],
    ['2024-02-29T00:00:00Z', 1_709_164_800_000],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each([
    ...['today', '1714521600', '2024-05-01', '2024-05-01T00:00:00', '2024-02-30T00:00:00Z', '2024-13-01T00:00:00Z'],
    ...['2024-05-01T25:00:00Z', '1969-12-31T23:59:59Z', '2024-05-01 00:00:00Z', ''],
  ])('%j is refused', (text) => {
    expect(() => read(text)).toThrow(
      `--now must be an ISO 8601 time such as 2024-05-01T00:00:00Z; got ${JSON.stringify(text)}`,
    );
  });
});

test('alternatives are joined as in a sentence', () => {
  expect(alternatives(['draft'])).toBe('draft');
  expect(alternatives(['draft', 'interop'])).toBe('draft or interop');
  expect(alternatives(['text', 'svg', 'mermaid'])).toBe('text, svg or mermaid');
});
