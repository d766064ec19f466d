import { describe, expect, test } from 'vitest';
import { ParseError, PegwireError, PrintError } from '../../src/text/errors.js';

const details = {
  code: 'E1001',
  reason: 'syntax',
  text: '@a>req:x{k:v:w}',
  span: { start: 12, end: 13 },
  expected: ['"|"', '"}"'],
  found: ':',
  message: 'Expected "|" or "}", found ":".',
} as const;

describe('a parse error', () => {
  test('is an error of ours', () => {
    const error = new ParseError(details);
    expect(error).toBeInstanceOf(PegwireError);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toBe('ParseError: Expected "|" or "}", found ":".');
  });

  test('as JSON has all but the text', () => {
    expect(JSON.parse(JSON.stringify(new ParseError({ ...details, help: 'escape it' })))).toEqual({
      name: 'ParseError',
      code: 'E1001',
      message: 'Expected "|" or "}", found ":".',
      span: { start: 12, end: 13 },
      expected: ['"|"', '"}"'],
      found: ':',
      help: 'escape it',
      reason: 'syntax',
    });
  });

  test('as JSON has no help where there is none', () => {
    expect(new ParseError(details).toJSON()).not.toHaveProperty('help');
  });

  test('is formatted with its code, the place and the help', () => {
    expect(new ParseError({ ...details, help: 'escape it' }).format({ name: 'stdin', line: 3 })).toBe(
      [
        'error[E1001]: Expected "|" or "}", found ":".',
        ' --> stdin:3:13',
        '  |',
        '3 | @a>req:x{k:v:w}',
        '  |             ^',
        'help: escape it',
      ].join('\n'),
    );
  });

  test('without a place is one line', () => {
    const error = new ParseError({ code: 'E1001', reason: 'not-a-string', message: 'Expected a string, found null.' });
    expect(error.format()).toBe('error[E1001]: Expected a string, found null.');
    expect(error).toMatchObject({ span: null, expected: [], found: null, help: undefined });
  });

  test('does not show its text to those who list its members', () => {
    expect(Object.values(new ParseError(details))).not.toContain(details.text);
  });
});

describe('a print error', () => {
  const error = new PrintError({ code: 'E1004', path: 'payload.args[2]', message: 'is no value' });

  test('tells the path in its message', () => {
    expect(error.message).toBe('payload.args[2]: is no value');
    expect(error.format()).toBe('error[E1004]: payload.args[2]: is no value');
  });

  test('as JSON has the path, and no place in a text', () => {
    expect(error.toJSON()).toEqual({
      name: 'PrintError',
      code: 'E1004',
      message: 'payload.args[2]: is no value',
      span: null,
      expected: [],
      found: null,
      path: 'payload.args[2]',
    });
  });
});
