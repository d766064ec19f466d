/** Errors whose texts are computed when they are first read. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { tryParsePacket } from '../../src/aacp/index.js';
import { tryParseFrame } from '../../src/accp/index.js';
import { ParseError } from '../../src/text/errors.js';

type Tried = { readonly ok: true } | { readonly ok: false; readonly error: object };

const reads = vi.hoisted(() => ({ count: 0 }));

/** A generated parser whose errors count the reads of `expected` and `message`. */
const counting = vi.hoisted(() => (module: { readonly tryParse: (text: string, options: object) => Tried }) => ({
  ...module,
  tryParse: (text: string, options: object) => {
    const result = module.tryParse(text, options);
    if (result.ok || 'reason' in result.error) return result;
    const { error } = result;
    const counted = (name: 'expected' | 'message') => {
      const owner = Object.getOwnPropertyDescriptor(error, name) ? error : Object.getPrototypeOf(error);
      const { get, value } = Object.getOwnPropertyDescriptor(owner, name)!;
      return {
        get() {
          reads.count++;
          return get === undefined ? value : get.call(error);
        },
      };
    };
    return {
      ok: false,
      error: Object.defineProperties(error, { expected: counted('expected'), message: counted('message') }),
    };
  },
}));

vi.mock('../../generated/accp.js', async (original) => counting(await original()));
vi.mock('../../generated/aacp.js', async (original) => counting(await original()));

afterEach(() => {
  reads.count = 0;
});

function errorOf(text: string): ParseError {
  const result = text.startsWith('@') ? tryParseFrame(text) : tryParsePacket(text);
  if (result.ok) throw new Error('The text is valid.');
  return result.error;
}

const TEXTS = ['@a>req:x{k:v:w}', '@a>req:x{', 'FETCH|HR|K:v', 'FETCH|HR|k:\0'];

describe('the expectations of the generated parser', () => {
  test.each(TEXTS)('are not read for code, position and reason: %j', (text) => {
    const { code, span, reason, name } = errorOf(text);
    expect({ code, span, reason, name }).toMatchObject({ reason: 'syntax', name: 'ParseError' });
    expect(reads.count).toBe(0);
  });

  test.each(TEXTS)('are read once: %j', (text) => {
    const error = errorOf(text);
    for (let round = 0; round < 3; round++) {
      expect(error.format()).toContain(error.message);
      expect(JSON.stringify(error)).toContain(error.code);
      expect(error.expected).toBe(error.toJSON().expected);
    }
    expect(reads.count).toBe(1);
  });
});

describe('an error with lazy texts', () => {
  const explain = (): { message: string; help: string } => ({ message: 'It is wrong.', help: 'fix it' });
  const lazy = (): ParseError => new ParseError({ code: 'E1001', reason: 'syntax', explain });

  test('equals one that is created with its texts', () => {
    const eager = new ParseError({ code: 'E1001', reason: 'syntax', ...explain() });
    expect(lazy()).toEqual(eager);
    expect(lazy().toJSON()).toEqual(eager.toJSON());
    expect(lazy().format()).toBe(eager.format());
    expect(String(lazy())).toBe('ParseError: It is wrong.');
  });

  test('has its message in its stack', () => {
    expect(lazy().stack).toMatch(/^ParseError: It is wrong\.\n {4}at /);
  });

  test('has a message that can be replaced, like any error', () => {
    const error = lazy();
    error.message = `stdin: ${error.message}`;
    expect(error.message).toBe('stdin: It is wrong.');
    expect(error.format()).toContain('stdin: It is wrong.');
    expect(Object.keys(error)).not.toContain('message');
  });
});

describe('the call stack', () => {
  test.each(TEXTS)('is that of the caller: %j', (text) => {
    const error = errorOf(text);
    expect(error.stack).toMatch(`ParseError: ${error.message}\n`);
    expect(error.stack).toContain('errorOf');
    expect(error.stack).toContain('lazy-errors.test');
  });
});
