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
  test('is a PegwireError', () => {
    const error = new ParseError(details);
    expect(error).toBeInstanceOf(PegwireError);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toBe('ParseError: Expected "|" or "}", found ":".');
  });

  test('as JSON has everything but the text', () => {
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

  test('as JSON has no help if there is none', () => {
    expect(new ParseError(details).toJSON()).not.toHaveProperty('help');
  });

  test('is formatted with its code, position and help', () => {
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

  test('without a position is formatted as one line', () => {
    const error = new ParseError({ code: 'E1001', reason: 'not-a-string', message: 'Expected a string, found null.' });
    expect(error.format()).toBe('error[E1001]: Expected a string, found null.');
    expect(error).toMatchObject({ span: null, expected: [], found: null, help: undefined });
  });

  test('does not expose its text as a member', () => {
    expect(Object.values(new ParseError(details))).not.toContain(details.text);
  });
});

describe('a print error', () => {
  const error = new PrintError({ code: 'E1004', path: 'payload.args[2]', message: 'is not a value' });

  test('has its path in its message', () => {
    expect(error.message).toBe('payload.args[2]: is not a value');
    expect(error.format()).toBe('error[E1004]: payload.args[2]: is not a value');
  });

  test('as JSON has the path, and no position in a text', () => {
    expect(error.toJSON()).toEqual({
      name: 'PrintError',
      code: 'E1004',
      message: 'payload.args[2]: is not a value',
      span: null,
      expected: [],
      found: null,
      path: 'payload.args[2]',
    });
  });
});
