import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import {
  CATALOGUE,
  EnvelopeError,
  isExtensionType,
  MESSAGE_TYPES,
  messageJsonSchema,
  messageSchema,
  parseEnvelope,
  printEnvelope,
  readEnvelope,
  tryParseEnvelope,
} from '../../src/arcp/index.js';
import { anyEnvelopeSchema, isEnvelope } from '../../src/arcp/protocol/envelope.js';
import { ENVELOPE_CASES, envelope, MESSAGE_CASES } from './messages.js';

/** Returns the paths of all members and items. */
function placesOf(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    [name],
    ...placesOf(member).map((rest) => [name, ...rest]),
  ]);
}

function put(value: unknown, [name, ...rest]: readonly string[], member: unknown): unknown {
  if (name === undefined) return member;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[name] = put(copy[name], rest, member);
  return copy;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });

describe('texts', () => {
  test.each(ENVELOPE_CASES)('$id: $name', ({ input, type, error }) => {
    const result = tryParseEnvelope(input);
    if (error === undefined) {
      expect(result).toMatchObject({ ok: true, value: { type } });
      expect(parseEnvelope(input)).toEqual(JSON.parse(input));
      return;
    }
    expect(() => parseEnvelope(input)).toThrow(EnvelopeError);
    if (result.ok) throw new Error('it was read');
    expect(result.error.code).toBe(error.code);
    expect(result.error.issues.map(({ path }) => path)).toEqual(error.paths);
    expect(result.error.details?.['reason']).toBe(
      error.reason ?? (error.code === 'PAYLOAD_TOO_LARGE' ? 'too_deep' : undefined),
    );
  });

  test('an unsupported version is refused with a list of the supported ones', () => {
    const result = tryParseEnvelope(JSON.stringify(envelope('ping', {}, { arcp: '9.9' })));
    expect(result).toMatchObject({ ok: false, error: { details: { supported: ['1.0'] } } });
  });

  test('an error has the identifiers that can be read', () => {
    const text = JSON.stringify({ ...envelope('log', {}), id: 'm7', session_id: 7, trace_id: 't' });
    const result = tryParseEnvelope(text);
    expect(result).toMatchObject({ ok: false, error: { header: { id: 'm7', type: 'log', trace_id: 't' } } });
    expect(result.ok ? null : result.error.header.session_id).toBeUndefined();
  });

  test('length is counted in bytes, and a text that is too long is not parsed', () => {
    const text = JSON.stringify(envelope('log', { level: 'info', message: 'ü'.repeat(100) }));
    const bytes = Buffer.byteLength(text);
    expect(tryParseEnvelope(text, { maxMessageBytes: bytes })).toMatchObject({ ok: true });
    const limited = { maxMessageBytes: bytes - 1 };
    expect(tryParseEnvelope(text, limited)).toMatchObject({ ok: false, error: { code: 'PAYLOAD_TOO_LARGE' } });
    expect(tryParseEnvelope('{'.repeat(2000), limited)).toMatchObject({ error: { code: 'PAYLOAD_TOO_LARGE' } });
  });

  test('a printed message is one line, and parses to the same message', () => {
    const message = envelope(
      'log',
      { level: 'info', message: 'a\nb\u2028c', x_acme: [1, { deep: null }] },
      { x_acme: 1 },
    );
    const text = printEnvelope(message);
    expect(text).not.toContain('\n');
    expect(parseEnvelope(text)).toEqual(message);
  });

  test('a value that is not JSON is refused', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    expect(() => printEnvelope(envelope('ping', cyclic))).toThrow(/ping cannot be printed as JSON/);
    expect(() => printEnvelope(envelope('ping', { n: 1n }))).toThrow(/ping cannot be printed as JSON/);
  });

  test('members named __proto__ do not change prototypes', () => {
    parseEnvelope(ENVELOPE_CASES.find(({ id }) => id === 'proto')!.input);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('any input', () => {
  const members = fc.dictionary(
    fc.constantFrom('arcp', 'id', 'type', 'timestamp', 'payload', 'session_id', 'job_id', 'x', '__proto__'),
    fc.oneof(
      fc.constantFrom('1.0', 'a', 'ping', 'job.progress', '2026-05-07T21:30:00Z', {}, '', 'ü', '\ud800'),
      fc.jsonValue(),
    ),
  );

  test('is a message or refused, and nothing else is thrown', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          members.map((value) => JSON.stringify(value)),
        ),
        (text) => {
          const result = tryParseEnvelope(text);
          expect(result.ok || result.error instanceof EnvelopeError).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('the fast check of an envelope agrees with its schema', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          members.map((some) => ({ ...envelope('ping', {}), ...some })),
          fc.jsonValue(),
        ),
        (value) => {
          expect(isEnvelope(value)).toBe(anyEnvelopeSchema.safeParse(value).success);
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('the fast check of payloads agrees with their schemas', () => {
    const payload = fc.constantFrom(...MESSAGE_CASES).chain(({ id, full }) => {
      const member = fc.oneof(fc.jsonValue(), fc.constantFrom(undefined, 0, -1, 101, '', {}, [], [undefined]));
      const places = placesOf(full);
      const changed = fc
        .tuple(fc.constantFrom(...places, ['x']), member)
        .map(([place, value]) => put(full, place, value));
      return fc.tuple(fc.constant(id), fc.oneof(changed, fc.constant(full), fc.jsonValue()));
    });
    const seen = { valid: 0, invalid: 0 };
    fc.assert(
      fc.property(payload, ([type, value]) => {
        const isValid = CATALOGUE[type].payload.safeParse(value).success;
        expect(readEnvelope(envelope(type, value)).ok).toBe(isValid);
        seen[isValid ? 'valid' : 'invalid']++;
      }),
      { numRuns: 3000 },
    );
    expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(500);
  });

  test('repeated member names are found wherever they are, and nothing else is', () => {
    const punctuation = fc.string({ unit: fc.constantFrom('"', ':', '\\', ' ', '{', '}', ',', 'a') });
    const values = fc.letrec((tie) => ({
      value: fc.oneof(fc.jsonValue({ maxDepth: 6 }), punctuation, fc.dictionary(punctuation, tie('value'))),
    }));
    fc.assert(
      fc.property(values.value, (value) => {
        const text = JSON.stringify(envelope('ping', { value }));
        expect(tryParseEnvelope(text)).toMatchObject({ ok: true });
        for (const first of ['"value":0', '"value" \n\t:0']) {
          const twice = text.replace('"value":', `${first},"value":`);
          expect(tryParseEnvelope(twice)).toMatchObject({ error: { details: { reason: 'duplicate_key' } } });
        }
      }),
    );
  });
});

describe('message types', () => {
  test('are the 38 of the specification', () => {
    expect(MESSAGE_TYPES).toEqual(MESSAGE_CASES.map(({ id }) => id));
    expect(MESSAGE_TYPES).toHaveLength(38);
  });

  test.each(MESSAGE_CASES)('$id: its sender, and whether it is a command', ({ id, from, group, command, requires }) => {
    expect(CATALOGUE[id]).toMatchObject({ from, group, isCommand: command, requires });
  });

  describe.each(MESSAGE_CASES)('$id', ({ id, requires, minimal, full, invalid }) => {
    const byJsonSchema = ajv.compile(messageJsonSchema(id));

    test.each(Object.entries({ minimal, full }))(
      'accepts its %s payload, and preserves unknown members',
      (_, payload) => {
        const message = envelope(id, { ...payload, x_acme: { a: 1 } }, { x_acme: 1 });
        expect(parseEnvelope(printEnvelope(message))).toEqual(message);
        expect(messageSchema(id).parse(message)).toEqual(message);
        expect(byJsonSchema(message)).toBe(true);
      },
    );

    test.each(['arcp', 'id', 'timestamp', 'payload', ...(requires === undefined ? [] : [requires])])(
      'requires %s',
      (member) => {
        const { [member]: _, ...without } = envelope(id, minimal) as Record<string, unknown>;
        expect(readEnvelope(without)).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENT' } });
        expect(readEnvelope(without)).toMatchObject({ error: { issues: [{ path: member }] } });
        expect(byJsonSchema(without)).toBe(false);
      },
    );

    test.each(invalid)('refuses an invalid $path', ({ path, payload }) => {
      const message = envelope(id, payload);
      const result = readEnvelope(message);
      expect(result).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENT' } });
      expect(result.ok ? [] : result.error.issues.map((issue) => issue.path)).toContain(path);
      expect(messageSchema(id).safeParse(message).success).toBe(false);
    });
  });

  test('one JSON Schema covers all of them', () => {
    const validate = ajv.compile(messageJsonSchema());
    for (const { id, minimal } of MESSAGE_CASES) expect(validate(envelope(id, minimal)), id).toBe(true);
    expect(validate(envelope('job.nonsense', {}))).toBe(false);
  });

  test('an unknown type has no schema', () => {
    expect(() => messageSchema('toString' as 'ping')).toThrow(TypeError);
    expect(() => messageJsonSchema('job.nonsense' as 'ping')).toThrow(TypeError);
  });
});

describe('extensions', () => {
  const extensions = { 'x.acme.mood': z.looseObject({ mood: z.string() }) };

  test('are validated by their schemas if they are passed', () => {
    expect(readEnvelope(envelope('x.acme.mood', { mood: 'fine' }), { extensions })).toMatchObject({ ok: true });
    const result = readEnvelope(envelope('x.acme.mood', { mood: 1 }), { extensions });
    expect(result).toMatchObject({ ok: false, error: { issues: [{ path: 'payload.mood' }] } });
  });

  test.each(['x.acme.mood', 'x.a-b.c_d.e', 'com.example.mood', 'org.example.a.B'])('%s is a valid name', (type) => {
    expect(isExtensionType(type)).toBe(true);
  });

  test.each([
    'mood',
    'x.acme',
    'job.mood',
    'job.started',
    'ping',
    'subscribe',
    'artifact.put',
    'human.input.request',
    '',
  ])('%s is not a valid name', (type) => {
    expect(isExtensionType(type)).toBe(false);
  });
});
