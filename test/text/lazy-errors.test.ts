/** Errors whose words are worked out when somebody reads them. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { parsePacket, tryParsePacket } from '../../src/aacp/index.js';
import { parseFrame, tryParseFrame } from '../../src/accp/index.js';
import { ParseError } from '../../src/text/errors.js';

const asked = vi.hoisted(() => ({ times: 0 }));

/** A generated parser whose errors count who asks what was expected. */
const counting = vi.hoisted(() => (module: { readonly parse: (text: string, options: object) => unknown }) => ({
  ...module,
  parse: (text: string, options: object) => {
    try {
      return module.parse(text, options);
    } catch (thrown) {
      const error = thrown as { readonly expected: unknown; readonly message: string };
      if ('reason' in error) throw error;
      const told = (name: 'expected' | 'message') => {
        const owner = Object.getOwnPropertyDescriptor(error, name) ? error : Object.getPrototypeOf(error);
        const { get, value } = Object.getOwnPropertyDescriptor(owner, name)!;
        return {
          get() {
            asked.times++;
            return get === undefined ? value : get.call(error);
          },
        };
      };
      throw Object.defineProperties(error, { expected: told('expected'), message: told('message') });
    }
  },
}));

vi.mock('../../generated/accp.js', async (original) => counting(await original()));
vi.mock('../../generated/aacp.js', async (original) => counting(await original()));

afterEach(() => {
  asked.times = 0;
});

function refusal(text: string): ParseError {
  const result = text.startsWith('@') ? tryParseFrame(text) : tryParsePacket(text);
  if (result.ok) throw new Error('was accepted');
  return result.error;
}

const TEXTS = ['@a>req:x{k:v:w}', '@a>req:x{', 'FETCH|HR|K:v', 'FETCH|HR|k:\0'];

describe('nobody is asked what was expected', () => {
  test.each(TEXTS)('by those who want code, place and reason: %j', (text) => {
    const { code, span, reason, name } = refusal(text);
    expect({ code, span, reason, name }).toMatchObject({ reason: 'syntax', name: 'ParseError' });
    expect(asked.times).toBe(0);
  });

  test.each(TEXTS)('more than once: %j', (text) => {
    const error = refusal(text);
    for (let round = 0; round < 3; round++) {
      expect(error.format()).toContain(error.message);
      expect(JSON.stringify(error)).toContain(error.code);
      expect(error.expected).toBe(error.toJSON().expected);
    }
    expect(asked.times).toBe(1);
  });
});

describe('an error to be told later', () => {
  const explain = (): { message: string; help: string } => ({ message: 'It is wrong.', help: 'put it right' });
  const later = (): ParseError => new ParseError({ code: 'E1001', reason: 'syntax', explain });

  test('tells the same as one that was told at once', () => {
    const now = new ParseError({ code: 'E1001', reason: 'syntax', ...explain() });
    expect(later()).toEqual(now);
    expect(later().toJSON()).toEqual(now.toJSON());
    expect(later().format()).toBe(now.format());
    expect(String(later())).toBe('ParseError: It is wrong.');
  });

  test('has its message in its stack', () => {
    expect(later().stack).toMatch(/^ParseError: It is wrong\.\n {4}at /);
  });

  test('lets its message be replaced, like any error', () => {
    const error = later();
    error.message = `stdin: ${error.message}`;
    expect(error.message).toBe('stdin: It is wrong.');
    expect(error.format()).toContain('stdin: It is wrong.');
    expect(Object.keys(error)).not.toContain('message');
  });
});

describe('the call stack', () => {
  test.each(TEXTS)('is that of the caller: %j', (text) => {
    const error = refusal(text);
    expect(error.stack).toMatch(`ParseError: ${error.message}\n`);
    expect(error.stack).toContain('refusal');
    expect(error.stack).toContain('told-errors.test');
  });

  test('is noted down as deep as before, by errors that come after', () => {
    const { stackTraceLimit } = Error;
    for (const text of TEXTS) refusal(text);
    parseFrame('@a>req:x{}');
    parsePacket('A|B');
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  });

  test('is left alone where errors are frozen', () => {
    const before = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')!;
    try {
      Object.defineProperty(Error, 'stackTraceLimit', { value: 7, writable: false });
      for (const text of TEXTS) expect(refusal(text).stack).toContain('told-errors.test');
    } finally {
      Object.defineProperty(Error, 'stackTraceLimit', before);
    }
  });
});
