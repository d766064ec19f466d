import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CodecOptions,
  createSession,
  type Json,
  type MessageInput,
  memoryStore,
} from '../../../src/accp/codec/index.js';
import { parseFrame } from '../../../src/accp/index.js';
import { loadTokenCounter } from '../../../src/tokens/index.js';
import { accepted, decodeAll, endpoints, NOON } from './endpoints.js';

const REQUEST: MessageInput = { intent: 'req', operation: 'plan', payload: { goal: 'launch' } };

describe('a frame', () => {
  test('has abbreviated keys, the schema at the end, and the envelope in the order of Table 4', () => {
    const { codec, a } = endpoints({ createId: () => 'a00000000001' });
    const message: MessageInput = {
      intent: 'done',
      operation: 'tool',
      schema: 'TC',
      payload: { tool_name: 'search', result: [1, 2], source: 'crm' },
      envelope: { correlation_id: 'c1', causation_id: 'm0', ttl: 30 },
    };
    expect(codec.encode(message, a).frames).toEqual([
      `@a>done:tool{tool:search|res:[1,2]|src:crm|schema:TC}[mid:a00000000001,seq:1,ts:${NOON},cid:c1,aid:m0,sid:s,ttl:30]`,
    ]);
  });

  test('omits the defaults of the schema', () => {
    const { codec, a, b } = endpoints();
    const payload = { role: 'assistant', content: 'Done', lang: 'en', turn: 2 };
    const { frames } = codec.encode({ intent: 'done', operation: 'chat', schema: 'CH', payload }, a);
    expect(frames[0]).toContain('{content:Done|turn:2|schema:CH}');
    expect(accepted(codec.decode(frames[0]!, b)).message.payload).toEqual(payload);
  });

  test('is canonical', () => {
    const { codec, a } = endpoints();
    const { frames } = codec.encode({ ...REQUEST, payload: { m: { b: 1.5, a: 0.1 + 0.2 } } }, a);
    expect(frames[0]).toContain('{m:{a:0.3,b:1.5}}');
  });

  test('of a text is a message of the assistant', () => {
    const { codec, a, b } = endpoints({ text: 'transliterate' });
    const { message } = accepted(codec.decode(codec.encode('Revenue fell 12%.', a).frames[0]!, b));
    expect(message).toMatchObject({ schema: 'CH', operation: 'chat', payload: { content: 'Revenue fell 12%.' } });
  });

  test('carries the identifier of the session always, or in the first frame only', () => {
    const always = endpoints();
    const first = endpoints({ sessionId: 'first' });
    const has = ({ codec, a }: typeof always): boolean[] =>
      [1, 2].map(() => codec.encode(REQUEST, a).frames[0]!.includes(',sid:s'));
    expect(has(always)).toEqual([true, true]);
    expect(has(first)).toEqual([true, false]);
  });
});

describe('a message that cannot be sent', () => {
  const cases: readonly [name: string, message: MessageInput, code: string, path: string][] = [
    ['an unknown intent', { ...REQUEST, intent: 'beg' }, 'E1002', 'intent'],
    ['an unknown schema', { ...REQUEST, schema: 'XX' }, 'E1003', 'schema'],
    ['an operation that is no word', { ...REQUEST, operation: 'a b' }, 'E1004', 'operation'],
    ['a text with a space', { ...REQUEST, payload: { goal: 'to fly' } }, 'E1004', 'payload.goal'],
    ['a key twice', { ...REQUEST, payload: { data: 1, d: 2 } }, 'E1004', 'payload.d'],
    ['NaN', { ...REQUEST, payload: { list: [1, Number.NaN] } }, 'E1004', 'payload.list[1]'],
    ['a number of its own', { ...REQUEST, envelope: { sequence: 7 } }, 'E3003', 'envelope.sequence'],
    ['another session', { ...REQUEST, envelope: { session_id: 't' } }, 'E5001', 'envelope.session_id'],
    ['an identifier with a space', { ...REQUEST, envelope: { msg_id: 'm 1' } }, 'E1004', 'envelope.msg_id'],
    ['an empty identifier', { ...REQUEST, envelope: { correlation_id: '' } }, 'E1004', 'envelope.correlation_id'],
    ['half a second', { ...REQUEST, envelope: { ttl: 0.5 } }, 'E1004', 'envelope.ttl'],
    ['cancel of nothing', { intent: 'cancel', operation: 'x' }, 'E1004', 'envelope.correlation_id'],
    ['a delta to another base', delta(2), 'E2001', 'payload.version'],
  ];
  test.each(cases)('%s: an error with code and path, and the session is unchanged', (_name, message, code, path) => {
    const { codec, a } = endpoints();
    expect(() => codec.encode(message, a)).toThrow(expect.objectContaining({ code, path }));
    const { frames } = codec.encode({ ...REQUEST, envelope: { msg_id: 'm1' } }, a);
    expect(frames[0]).toContain('[mid:m1,seq:1,');
  });

  test('an identifier that is in use', () => {
    const { codec, a } = endpoints();
    const message = { ...REQUEST, envelope: { msg_id: 'm1' } };
    codec.encode(message, a);
    expect(() => codec.encode(message, a)).toThrow(expect.objectContaining({ code: 'E3002' }));
  });
});

function delta(version: number): MessageInput {
  return { intent: 'sync', operation: 'state', payload: { version, delta: { phase: 'two' } } };
}

describe('the limits of Table 3', () => {
  test('beyond a soft limit there is a warning, with the number of tokens', async () => {
    const counter = await loadTokenCounter('o200k_base');
    const { codec, a } = endpoints({ counter });
    const { warnings, tokens: counted } = codec.encode(REQUEST, a);
    expect(counted.exact).toBe(counter.exact);
    expect(warnings.map(({ code, section }) => `${code} ${section}`)).toEqual(['over-soft-limit 3.4']);
    expect(warnings[0]!.message).toContain(`${counted.metadata} tokens; its soft limit is 10`);
  });

  test('the numbers of tokens are those of the frame and its parts, whatever its body ends with', async () => {
    const exact = await loadTokenCounter('o200k_base');
    const { splitsAtSymbols, ...unknown } = exact;
    expect(splitsAtSymbols).toBe(true);
    const end = fc.string({ unit: fc.constantFrom(...`a7 ''"{}[]|:,@>$~\\-/.\n\u00e9`), maxLength: 24 });
    const value = fc.oneof(end, fc.array(end, { maxLength: 2 }), fc.dictionary(fc.constantFrom('k', 'Z9'), end));
    for (const counter of [exact, unknown]) {
      const { codec, a } = endpoints({ counter, text: 'transliterate' });
      fc.assert(
        fc.property(fc.dictionary(fc.constantFrom('goal', 'k', 'Z9'), value), (payload) => {
          const { frames, tokens } = codec.encode({ ...REQUEST, payload }, a);
          const frame = frames[0]!;
          const [start, end] = [frame.indexOf(':'), frame.lastIndexOf('[mid:')];
          const parts = [frame.slice(0, start), frame.slice(start, end), frame.slice(end)];
          const [header, body, metadata] = parts.map(exact.count);
          expect(frames).toHaveLength(1);
          expect(tokens).toEqual({ header, body, metadata, total: exact.count(frame), exact: true });
        }),
        { numRuns: 1000 },
      );
    }
  });

  test('beyond a hard limit the message is split, each frame within the limits of body and total', async () => {
    const counter = await loadTokenCounter('o200k_base');
    const { codec, a, b } = endpoints({ counter, text: 'transliterate' });
    const rows = Array.from({ length: 120 }, (_, id) => ({ id, name: `row ${id}`, tags: ['a', `t${id}`] }));
    const text = Array.from({ length: 400 }, (_, at) => `word ${at} of many`).join(', ');
    const payload = { rows, text, nested: { list: [text, { rows }] }, last: true };
    const { frames } = codec.encode({ ...REQUEST, payload }, a);
    expect(frames.length).toBeGreaterThan(20);
    for (const frame of frames) {
      const close = frame.lastIndexOf('}[') + 1;
      expect(counter.count(frame.slice(frame.indexOf(':'), close))).toBeLessThanOrEqual(200);
      expect(counter.count(frame)).toBeLessThanOrEqual(240);
    }
    const outcomes = frames.map((frame) => codec.decode(frame, b));
    expect(outcomes.slice(0, -1).every(({ outcome }) => outcome === 'pending')).toBe(true);
    const { message } = accepted(outcomes.at(-1)!);
    expect(message.payload).toEqual(payload);
    expect(message.envelope).not.toHaveProperty('correlation_id');
  });

  test('the parts share a cid and have their position', () => {
    const { codec, a } = endpoints({ limits: { body: { soft: 10, hard: 30 } } });
    const words = Array.from({ length: 60 }, (_, at) => `item${at}`);
    const { frames, correlationId } = codec.encode({ ...REQUEST, payload: { words } }, a);
    const places = frames.map((frame) => {
      const metadata = parseFrame(frame).metadata ?? [];
      const fields = Object.fromEntries(metadata.map(({ key, value }) => [key, 'value' in value ? value.value : null]));
      return [fields['cid'], fields['idx'], fields['tot']];
    });
    expect(places).toEqual(frames.map((_, index) => [correlationId, index, frames.length]));
    expect(frames.length).toBeGreaterThan(1);
  });

  test('for any payload and limits, a split message is joined again', () => {
    const json = fc.jsonValue({ maxDepth: 3 }).filter((value) => !Object.is(value, -0));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), fc.integer({ min: 16, max: 120 }), (values, hard) => {
        const payload = JSON.parse(JSON.stringify(values)) as Record<string, Json>;
        const body = { soft: 5, hard };
        const options: CodecOptions = { text: 'transliterate', limits: { body }, now: () => NOON * 1000 };
        const { codec, a, b } = endpoints(options);
        let result: ReturnType<typeof codec.encode>;
        try {
          result = codec.encode({ ...REQUEST, payload }, a);
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: 'E1004', path: expect.stringMatching(/^payload/) });
          return;
        }
        const { message } = accepted(decodeAll(codec, result.frames, b));
        if (result.losses.length === 0)
          expect(Object.fromEntries(Object.entries(message.payload))).toEqual(normal(payload));
      }),
      { numRuns: 150 },
    );
  });

  test('parts that do not continue the previous one are rejected', () => {
    const { codec, b } = endpoints();
    const part = (seq: number, idx: number, payload = 'k:[1]', cut = 'cut:0,'): string =>
      `@a>req:x{${payload}}[mid:m${seq},seq:${seq},cid:c,${idx === 0 ? '' : cut}idx:${idx},tot:3]`;
    expect(codec.decode(part(1, 1), b)).toMatchObject({ outcome: 'rejected', error: { code: 'E1001' } });
    const next = endpoints().b;
    expect(codec.decode(part(1, 0), next).outcome).toBe('pending');
    expect(codec.decode(part(2, 2), next)).toMatchObject({ outcome: 'rejected', error: { code: 'E1001' } });
    const third = endpoints().b;
    codec.decode(part(1, 0), third);
    codec.decode(part(2, 1, 'j:[1]'), third);
    expect(codec.decode(part(3, 2, 'j:text'), third)).toMatchObject({ outcome: 'rejected', error: { code: 'E1001' } });
  });
});

const FULL_KEYS = new Map([
  ['d', 'data'],
  ['f', 'findings'],
  ['q', 'query'],
  ['v', 'version'],
]);

/** Abbreviations name their full keys. */
function normal(payload: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(Object.entries(payload).map(([key, value]) => [FULL_KEYS.get(key) ?? key, value]));
}

describe('values that are stored in state', () => {
  test('long texts are sent as references if both ends share a store, and come back', () => {
    const store = memoryStore();
    const { codec, a, b } = endpoints({}, { store, shared: true });
    const text = 'x'.repeat(51);
    const { frames } = codec.encode({ ...REQUEST, payload: { text, short: 'x'.repeat(50) } }, a);
    expect(frames[0]).toMatch(/text:\$cold\.\w+\|short:x{50}}/);
    expect(accepted(codec.decode(frames[0]!, b)).message.payload['text']).toBe(text);
  });

  test('without a shared store they are sent inline, with an event in the debug log', () => {
    const said: string[] = [];
    const { codec, a } = endpoints({ log: ({ type, message }) => said.push(`${type}: ${message}`) });
    const { frames } = codec.encode({ ...REQUEST, payload: { text: 'x'.repeat(51) } }, a);
    expect(frames[0]).toContain('x'.repeat(51));
    expect(said).toContain('inline: payload.text is sent inline, since the other side shares no store.');
  });

  test('externalize needs a store that both ends share', () => {
    const alone = endpoints({ text: 'externalize' });
    expect(() => alone.codec.encode({ ...REQUEST, payload: { goal: 'to fly' } }, alone.a)).toThrow(/shares no store/);
    const store = memoryStore();
    const { codec, a, b } = endpoints({ text: 'externalize' }, { store, shared: true });
    const payload = { goal: 'to fly', deep: { ' ': [[[[[[1]]]]]] } };
    expect(accepted(codec.decode(codec.encode({ ...REQUEST, payload }, a).frames[0]!, b)).message.payload).toEqual(
      payload,
    );
  });

  test('another session of the store may read them only with a grant', () => {
    const store = memoryStore();
    const { codec, a } = endpoints({}, { store });
    a.state.set('cold', 'secret', 42);
    const open = (id: string, grants: string[]) => createSession({ agent: 'b', id, store, grants });
    const text = '@a>req:x{k:$cold.secret}[mid:m1,seq:1]';
    expect(codec.decode(text, open('t', []))).toMatchObject({ outcome: 'rejected', error: { code: 'E5002' } });
    expect(accepted(codec.decode(text, open('u', ['s']))).message.payload['k']).toBe(42);
  });
});
