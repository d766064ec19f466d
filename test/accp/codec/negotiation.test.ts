import { describe, expect, test } from 'vitest';
import { createCodec, createRegistry, createSession, type SchemaDefinition } from '../../../src/accp/codec/index.js';
import { accepted, converse, decodeAll, endpoints, rejected } from './endpoints.js';

const REPORT: SchemaDefinition = {
  code: 'SR',
  version: 1,
  fields: ['period', 'revenue', 'notes'],
  defaults: { period: 'quarterly', notes: 'none so far' },
  types: { period: 'string' },
};

describe('the exchange of registries', () => {
  test('takes one frame in each direction if they are equal', () => {
    const { codec, a, b } = endpoints();
    const frames = converse(codec, codec.announce(a).frames, a, b);
    expect(frames.map((frame) => frame.replace(/\[.*/, ''))).toEqual(
      ['a', 'b'].map(
        (agent) =>
          `@${agent}>sync:registry{v:1|hash:${frames[0]!.match(/hash:(\w+)/)![1]}|text:transliterate|sequence:session}`,
      ),
    );
    expect(b.peers.get('a')).toMatchObject({ version: 1, text: 'transliterate', sequence: 'session' });
  });

  test('enables transliteration in both directions', () => {
    const { codec, a, b } = endpoints();
    const message = { intent: 'req', operation: 'plan', payload: { goal: 'to fly', quoted: "'as it was" } };
    expect(() => codec.encode(message, a)).toThrow(expect.objectContaining({ code: 'E1004' }));
    converse(codec, codec.announce(a).frames, a, b);
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const { frames } = codec.encode(message, from);
      expect(accepted(codec.decode(frames[0]!, to)).message.payload).toEqual(message.payload);
    }
  });

  test('between announcements, no ambiguous string is sent', () => {
    const { codec, a, b } = endpoints({}, { sequence: 'sender' });
    const announced = codec.announce(a);
    accepted(codec.decode(announced.frames[0]!, b));
    const marked = { intent: 'req', operation: 'plan', payload: { goal: "'marked" } };
    expect(() => codec.encode(marked, a)).toThrow(expect.objectContaining({ code: 'E1004', path: 'payload.goal' }));
  });

  test('brings the schemas of each side to the other, once', () => {
    const left = createCodec();
    left.registerSchema('sales_report', REPORT);
    const right = createCodec();
    const a = createSession({ agent: 'a', id: 's', sequence: 'sender' });
    const b = createSession({ agent: 'b', id: 's', sequence: 'sender' });
    const payload = { revenue: 12 };
    const message = { intent: 'done', operation: 'analyze', schema: 'SR', payload };
    const early = left.encode(message, a).frames;
    const refused = rejected(right.decode(early[0]!, b));
    expect(refused.error.code).toBe('E1003');
    accepted(left.decode(refused.reply!, a));

    const first = right.decode(left.announce(a).frames[0]!, b);
    const answers = accepted(first).replies;
    expect(answers).toHaveLength(1);
    const deltas = accepted(decodeAll(left, answers, a)).replies;
    expect(deltas.join()).toContain('|delta:{sales_report:{');
    expect(accepted(decodeAll(right, deltas, b)).replies).toEqual([]);

    const { frames } = left.encode(message, a);
    expect(frames[0]).toContain('{revenue:12|schema:SR}');
    expect(accepted(right.decode(frames[0]!, b)).message.payload).toEqual({ ...payload, ...REPORT.defaults });
    // The other side writes by its own registry, which has no such schema.
    expect(() => right.encode(message, b)).toThrow(expect.objectContaining({ code: 'E1003' }));
  });

  test('rejects schemas that do not have the hash that they claim', () => {
    const left = createCodec();
    left.registerSchema('sales_report', REPORT);
    const { codec: right, a, b } = endpoints();
    const answers = accepted(right.decode(left.announce(a).frames[0]!, b)).replies;
    const [delta] = accepted(decodeAll(left, answers, a)).replies;
    const tampered = delta!.replace('revenue', 'balance');
    expect(tampered).not.toBe(delta);
    expect(rejected(right.decode(tampered, b)).error.code).toBe('E5001');
  });

  test('rejects a side with another sequence', () => {
    const codec = createCodec();
    const a = createSession({ agent: 'a', id: 's', sequence: 'sender' });
    const b = createSession({ agent: 'b', id: 's' });
    expect(rejected(codec.decode(codec.announce(a).frames[0]!, b)).error).toMatchObject({
      code: 'E1004',
      path: 'payload.sequence',
    });
  });

  test('announces schemas that are registered later', () => {
    const left = createCodec();
    const right = createCodec();
    const a = createSession({ agent: 'a', id: 's' });
    const b = createSession({ agent: 'b', id: 's' });
    const pass = (frames: readonly string[]): void => {
      const back = accepted(decodeAll(right, frames, b)).replies;
      if (back.length > 0) accepted(decodeAll(left, back, a));
    };
    pass(left.announce(a).frames);
    left.registerSchema('sales_report', REPORT);
    pass(left.announce(a).frames);
    const { frames } = left.encode({ intent: 'done', operation: 'x', schema: 'SR', payload: {} }, a);
    expect(accepted(right.decode(frames[0]!, b)).message.payload).toEqual(REPORT.defaults);
  });

  test('a codec can start with the schemas of another', () => {
    const left = createCodec();
    left.registerSchema('sales_report', REPORT);
    const right = createCodec({ registry: createRegistry({ schemas: { sales_report: REPORT } }) });
    expect(right.registry.hash).toBe(left.registry.hash);
  });
});
