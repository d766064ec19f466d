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

/** The paths of all members and items. */
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

  test('a version that is not spoken is refused with those that are', () => {
    const result = tryParseEnvelope(JSON.stringify(envelope('ping', {}, { arcp: '9.9' })));
    expect(result).toMatchObject({ ok: false, error: { details: { supported: ['1.0'] } } });
  });

  test('a refusal tells whom it is for, as far as that can be read', () => {
    const text = JSON.stringify({ ...envelope('log', {}), id: 'm7', session_id: 7, trace_id: 't' });
    const result = tryParseEnvelope(text);
    expect(result).toMatchObject({ ok: false, error: { header: { id: 'm7', type: 'log', trace_id: 't' } } });
    expect(result.ok ? null : result.error.header.session_id).toBeUndefined();
  });

  test('length is counted in bytes, and a text that is too long is not read', () => {
    const text = JSON.stringify(envelope('log', { level: 'info', message: 'ü'.repeat(100) }));
    const bytes = Buffer.byteLength(text);
    expect(tryParseEnvelope(text, { maxMessageBytes: bytes })).toMatchObject({ ok: true });
    const limited = { maxMessageBytes: bytes - 1 };
    expect(tryParseEnvelope(text, limited)).toMatchObject({ ok: false, error: { code: 'PAYLOAD_TOO_LARGE' } });
    expect(tryParseEnvelope('{'.repeat(2000), limited)).toMatchObject({ error: { code: 'PAYLOAD_TOO_LARGE' } });
  });

  test('a message as text is one line, and the same again when it is read', () => {
    const message = envelope(
      'log',
      { level: 'info', message: 'a\nb\u2028c', x_acme: [1, { deep: null }] },
      { x_acme: 1 },
    );
    const text = printEnvelope(message);
    expect(text).not.toContain('\n');
    expect(parseEnvelope(text)).toEqual(message);
  });

  test('what has no JSON is refused', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    expect(() => printEnvelope(envelope('ping', cyclic))).toThrow(/ping has no JSON/);
    expect(() => printEnvelope(envelope('ping', { n: 1n }))).toThrow(/ping has no JSON/);
  });

  test('nobody gets at the prototype of objects', () => {
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

  test('is a message or refused, and never throws anything else', () => {
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

  test('the quick look at an envelope finds what its schema finds', () => {
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

  test('payloads are read that their schemas allow', () => {
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

  test('members of the same name are found wherever they stand, and nothing else is taken for them', () => {
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

  test.each(MESSAGE_CASES)(
    '$id: who sends it, and whether it is answered',
    ({ id, from, group, command, requires }) => {
      expect(CATALOGUE[id]).toMatchObject({ from, group, isCommand: command, requires });
    },
  );

  describe.each(MESSAGE_CASES)('$id', ({ id, requires, minimal, full, invalid }) => {
    const byJsonSchema = ajv.compile(messageJsonSchema(id));

    test.each(Object.entries({ minimal, full }))(
      'takes its %s payload, and keeps members that nobody knows',
      (_, payload) => {
        const message = envelope(id, { ...payload, x_acme: { a: 1 } }, { x_acme: 1 });
        expect(parseEnvelope(printEnvelope(message))).toEqual(message);
        expect(messageSchema(id).parse(message)).toEqual(message);
        expect(byJsonSchema(message)).toBe(true);
      },
    );

    test.each(['arcp', 'id', 'timestamp', 'payload', ...(requires === undefined ? [] : [requires])])(
      'has %s',
      (member) => {
        const { [member]: _, ...without } = envelope(id, minimal) as Record<string, unknown>;
        expect(readEnvelope(without)).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENT' } });
        expect(readEnvelope(without)).toMatchObject({ error: { issues: [{ path: member }] } });
        expect(byJsonSchema(without)).toBe(false);
      },
    );

    test.each(invalid)('refuses a fault at $path', ({ path, payload }) => {
      const message = envelope(id, payload);
      const result = readEnvelope(message);
      expect(result).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENT' } });
      expect(result.ok ? [] : result.error.issues.map((issue) => issue.path)).toContain(path);
      expect(messageSchema(id).safeParse(message).success).toBe(false);
    });
  });

  test('one JSON Schema holds all of them', () => {
    const validate = ajv.compile(messageJsonSchema());
    for (const { id, minimal } of MESSAGE_CASES) expect(validate(envelope(id, minimal)), id).toBe(true);
    expect(validate(envelope('job.nonsense', {}))).toBe(false);
  });

  test('there is no schema of a type that there is none of', () => {
    expect(() => messageSchema('toString' as 'ping')).toThrow(TypeError);
    expect(() => messageJsonSchema('job.nonsense' as 'ping')).toThrow(TypeError);
  });
});

describe('extensions', () => {
  const extensions = { 'x.acme.mood': z.looseObject({ mood: z.string() }) };

  test('are read where both sides have agreed on them, by their schemas', () => {
    expect(readEnvelope(envelope('x.acme.mood', { mood: 'fine' }), { extensions })).toMatchObject({ ok: true });
    const result = readEnvelope(envelope('x.acme.mood', { mood: 1 }), { extensions });
    expect(result).toMatchObject({ ok: false, error: { issues: [{ path: 'payload.mood' }] } });
  });

  test.each(['x.acme.mood', 'x.a-b.c_d.e', 'com.example.mood', 'org.example.a.B'])('%s is a name for one', (type) => {
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
  ])('%s is none', (type) => {
    expect(isExtensionType(type)).toBe(false);
  });
});
