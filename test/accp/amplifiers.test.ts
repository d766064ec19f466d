/** Amplification: the size of the output of each operation for its worst input. */
import { describe, expect, test } from 'vitest';
import { formatDiagnostic, validatePacket } from '../../src/aacp/index.js';
import {
  type Accepted,
  type Codec,
  createCodec,
  createSession,
  type DecodeOutcome,
  exportRegistry,
  type Json,
  memoryStore,
  renderForContext,
  type SessionStore,
  streamMessages,
} from '../../src/accp/codec/index.js';
import { explainFrame } from '../../src/accp/index.js';
import { framePrompt } from '../../src/accp/language/prompt.js';
import { renderJson } from '../../src/accp/render/index.js';
import { accepted, decodeAll, endpoints, rejected } from './codec/endpoints.js';

const BIG = 'x'.repeat(200_000);

/** A store that counts what is read from the cold tier, and the characters that are committed. */
function countingStore() {
  const inner = memoryStore();
  const counts = { reads: 0, committed: 0 };
  const store: SessionStore = {
    ...inner,
    durable: true,
    claim(session, agent) {
      const endpoint = inner.claim(session, agent);
      return {
        ...endpoint,
        commit(changes, cold = []) {
          for (const { value } of changes) counts.committed += value?.length ?? 0;
          for (const { value } of cold) counts.committed += value?.length ?? 0;
          endpoint.commit(changes, cold);
        },
        readCold(key) {
          counts.reads++;
          return endpoint.readCold(key);
        },
      };
    },
  };
  return { store, counts };
}

/** A receiver whose cold state holds a large value. */
function receiver(options: Parameters<typeof createCodec>[0] = {}) {
  const { store, counts } = countingStore();
  const session = createSession({ agent: 'b', id: 's', store, sequence: 'sender' });
  session.state.set('cold', 'big', BIG);
  session.state.set('cold', 'one', 1);
  session.state.set(
    'cold',
    'list',
    Array.from({ length: 2000 }, (_, index) => 'x'.repeat(90) + index),
  );
  counts.reads = 0;
  counts.committed = 0;
  const codec = createCodec({ now: () => 1_714_000_000_000, ...options });
  let seq = 0;
  const decode = (payload: string) => {
    seq++;
    return codec.decode(`@a>req:x{${payload}}[mid:m${seq},seq:${seq},ts:1714000000]`, session);
  };
  return { session, codec, counts, decode };
}

function reasonOf(outcome: DecodeOutcome) {
  const { error } = rejected(outcome);
  return [error.code, error.details['reason']];
}

describe('the references of a frame', () => {
  const times = (count: number, path: (index: number) => string) =>
    `a:[${Array.from({ length: count }, (_, index) => `$${path(index)}`).join(',')}]`;

  test.each<[name: string, payload: string, reason: string]>([
    ['one large value 2,000 times', times(2000, () => 'cold.big'), 'reference-bytes'],
    ['one small value 2,000 times', times(2000, () => 'cold.one'), 'reference-count'],
    ['one large value 1,000 times', times(1000, () => 'cold.big'), 'reference-bytes'],
    ['one large value by two names', times(1000, (index) => (index % 2 === 0 ? 'big' : 'cold.big')), 'reference-bytes'],
    ['large values inside of one map', `a:{b:${times(500, () => 'big').slice(2)}}`, 'reference-bytes'],
  ])('are rejected with E2003: %s', (_name, payload, reason) => {
    const { counts, decode } = receiver();
    expect(reasonOf(decode(payload))).toEqual(['E2003', reason]);
    expect(counts.reads).toBeLessThanOrEqual(2);
    expect(counts.committed).toBeLessThan(4 * payload.length + 4000);
  });

  test('are resolved once, and share one frozen value', () => {
    const { counts, decode } = receiver();
    const { a } = accepted(decode(times(20, () => 'cold.big'))).message.payload as { a: Json[] };
    expect(a).toEqual(Array.from({ length: 20 }, () => BIG));
    // Once for its value, and once for the key under which state keeps it.
    expect(counts.reads).toBe(2);
    const { payload } = accepted(decode('a:$cold.list|b:$cold.list|c:[$list]')).message;
    expect(payload['a']).toBe(payload['b']);
    expect(Object.isFrozen(payload['a'])).toBe(true);
  });

  test('read a value once, whatever parts of it they name', () => {
    const { counts, decode } = receiver();
    const { a } = accepted(decode(times(1000, (index) => `cold.list.${index}`))).message.payload as { a: Json[] };
    expect(a).toHaveLength(1000);
    // Keys that are made from values are looked up, too, when state keeps them.
    expect(counts.reads).toBeLessThanOrEqual(2 + 1000);
    expect(counts.committed).toBeLessThan(2 * BIG.length);
  });

  test('count everything that is read, not only the named part', () => {
    const { session, decode } = receiver();
    for (let index = 0; index < 50; index++) {
      session.state.set('cold', `k${index}`, { small: 1, large: Array.from({ length: 900 }, () => 'x'.repeat(100)) });
    }
    expect(reasonOf(decode(times(50, (index) => `cold.k${index}.small`)))).toEqual(['E2003', 'reference-bytes']);
  });

  test('cost state almost nothing, however many frames name a large value', () => {
    const { session, codec, counts, decode } = receiver();
    let input = 0;
    for (let index = 0; index < 40; index++) {
      const payload = 'a:$big|b:[$big,$cold.big]';
      input += payload.length + 60;
      expect(decode(payload).outcome).toBe('message');
    }
    // The value itself is kept once more, under a key that never changes.
    expect(counts.committed - BIG.length).toBeLessThan(60 * input);
    expect(codec.getBudget(session).hot.used).toBeLessThanOrEqual(codec.getBudget(session).hot.max);
    // Requests that are not answered are kept as well, and have their values again when they are listed.
    expect(session.pendingRequests.at(-1)!.message.payload).toEqual({ a: BIG, b: [BIG, BIG] });
  });

  test.each([
    [{ maxCount: 2 }, 'a:[$big,$big,$big]', 'reference-count'],
    [{ maxBytes: 300_000 }, 'a:[$big,$big]', 'reference-bytes'],
    [{ maxCount: 0 }, 'a:$big', 'reference-count'],
  ])('have the limits of the codec: %o', (references, payload, reason) => {
    expect(reasonOf(receiver({ references }).decode(payload))).toEqual(['E2003', reason]);
  });

  test('have no limits if the codec disables them', () => {
    const { decode } = receiver({
      references: { maxBytes: Number.POSITIVE_INFINITY, maxCount: Number.POSITIVE_INFINITY },
    });
    expect(decode(times(1500, () => 'big')).outcome).toBe('message');
  });

  test.each([{ maxBytes: -1 }, { maxCount: Number.NaN }])('are not limited by %o', (references) => {
    expect(() => createCodec({ references })).toThrow(TypeError);
  });
});

/** The numbers of characters of the input and the output of an operation. */
interface Made {
  readonly input: number;
  readonly output: number;
}

const json = (value: unknown): number =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? `${one}` : one)).length;

function decodedPayload(payload: string, codec: Codec = createCodec()): Accepted {
  const session = createSession({ agent: 'b', id: 's', budgets: { hot: 1e9, hotTrigger: 1e9 } });
  return accepted(codec.decode(`@a>req:x{${payload}}[mid:m1,seq:1,ts:1714000000]`, session));
}

const AMPLIFIERS: readonly (readonly [name: string, most: number, make: () => Made | Promise<Made>])[] = [
  [
    'defaults of a schema that a peer has announced',
    // A schema has 4,096 characters of defaults, and the shortest frame that names it about 40.
    120,
    () => {
      const { codec, a, b } = endpoints({}, { sequence: 'sender' });
      const defaults = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, 'x'.repeat(85)]));
      const writer = createCodec();
      writer.registerSchema('wide', { code: 'W', version: 1, fields: Object.keys(defaults), defaults });
      const setUp = writer.announce(a).frames;
      const answers = setUp.flatMap((frame) => accepted(codec.decode(frame, b)).replies);
      const news = answers.flatMap((frame) => accepted(writer.decode(frame, a)).replies);
      decodeAll(codec, news, b);
      let input = 0;
      let output = 0;
      for (let index = 0; index < 20; index++) {
        const [frame] = writer.encode({ intent: 'req', operation: 'x', schema: 'W' }, a).frames;
        input += frame!.length;
        output += json(accepted(codec.decode(frame!, b)).message.payload);
      }
      return { input, output };
    },
  ],
  [
    'a registry as JSON',
    4,
    () => {
      const codec = createCodec();
      const fields = Array.from({ length: 500 }, (_, index) => `f${index}`);
      const schema = { code: 'W', version: 1, fields };
      codec.registerSchema('wide', schema);
      return { input: json(schema) + 2000, output: json(exportRegistry(codec.registry)) };
    },
  ],
  [
    'losses below long keys',
    80,
    () => {
      const key = 'k'.repeat(80);
      const numbers = Array.from({ length: 2000 }, () => '0.12345678901234567891').join(',');
      const payload = `${key}:{${key}:{${key}:{${key}:[${numbers}]}}}`;
      return { input: payload.length, output: json(decodedPayload(payload).losses) };
    },
  ],
  [
    'losses of a message below keys that are no words',
    80,
    () => {
      const list = Array.from({ length: 2000 }, () => 0.1234567890123456);
      const key = 'not a word '.repeat(500);
      const payload = { a: { [key]: { [key]: { [key]: list } } } };
      const { codec, a } = endpoints({ text: 'transliterate' });
      const { losses } = codec.encode({ intent: 'req', operation: 'x', payload }, a);
      expect(losses).toHaveLength(2000);
      return { input: json(payload), output: json(losses) };
    },
  ],
  [
    'the frames of a message that is split',
    50,
    () => {
      const codec = createCodec({
        createId: (
          (last) => () =>
            `${'m'.repeat(200)}${last++}`
        )(0),
      });
      const session = createSession({ agent: 'a'.repeat(60), id: 's'.repeat(200) });
      const payload = { text: 'word_'.repeat(4000) };
      const { frames } = codec.encode({ intent: 'req', operation: 'x', payload }, session);
      return { input: json(payload), output: frames.join('').length };
    },
  ],
  [
    'a delta of the state',
    3,
    () => {
      const { codec, a } = endpoints();
      const values = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, index]));
      codec.syncState(values, a);
      const { frames } = codec.syncState({ k1: 2 }, a);
      return { input: json(values), output: frames.join('').length };
    },
  ],
  ...(
    [
      ['that names the last frame that was sent again', () => 1, true],
      ['that names no frame', () => 1, false],
      ['that counts up by one each time', (count: number) => count, true],
    ] as const
  ).map(
    ([name, expected, names]) =>
      [
        `the frames that are sent again for a report of a gap ${name}`,
        40,
        () => {
          const { codec, a } = endpoints({ state: false }, { sequence: 'sender', maxOutbox: 100 });
          for (let count = 0; count < 100; count++) {
            codec.encode({ intent: 'ack', operation: 'x', payload: { text: 'word_'.repeat(90) } }, a);
          }
          let aid = 'none';
          let input = 0;
          let output = 0;
          for (let count = 1; count <= 50; count++) {
            const error = `code:E3003|msg:gap|retry:true|expected:${expected(count)}|schema:ER`;
            const report = `@b>fail:error{${error}}[mid:x${count},seq:${count},ts:1714000000,aid:${aid}]`;
            const { replies } = accepted(codec.decode(report, a));
            if (names) aid = /mid:([^,]+)/.exec(replies.at(-1)!)![1]!;
            input += report.length;
            output += replies.join('').length;
          }
          return { input, output };
        },
      ] as const,
  ),
  ...(
    [
      ['whole state that is asked for', () => 'fail:error{code:E2001|msg:x|retry:false|want:full_state|schema:ER}'],
      ['whole state for a side that says that it is behind', () => 'sync:state{v:0|state:{}}'],
      [
        'whole state for a side that says that it has another one',
        (version: number) => `sync:state{v:${version}|state:{a:1}}`,
      ],
      ['registry for agents that are made up', () => 'sync:registry{version:7|hash:abcdef01}'],
    ] as const
  ).map(
    ([name, body]) =>
      [
        `the ${name}`,
        // A megabyte is given in any case.
        100,
        () => {
          const fields = Array.from({ length: 500 }, (_, index) => `field${index}`);
          const { codec, a } = endpoints({ state: false }, { sequence: 'sender' });
          for (let index = 0; index < 10; index++)
            codec.registerSchema(`wide${index}`, { code: `W${index}`, version: 1, fields });
          codec.syncState(Object.fromEntries(fields.map((field) => [field, 'word_'.repeat(20)])), a);
          let input = 0;
          let output = 0;
          let unanswered = 0;
          for (let count = 1; count <= 300; count++) {
            const metadata = `[mid:x${count},seq:1,ts:1714000000]`;
            const frame = `@b${count}>${body(a.state.version)}${metadata}`;
            const { replies, warnings } = accepted(codec.decode(frame, a));
            input += frame.length;
            output += replies.join('').length;
            unanswered += warnings.filter(({ code }) => code === 'unanswered').length;
          }
          expect(unanswered).toBeGreaterThan(200);
          // A side that has lost the state gets the changes.
          codec.syncState({ field1: 'other' }, a);
          const again = `@b1>${body(a.state.version)}[mid:y,seq:2,ts:1714000000]`;
          expect(accepted(codec.decode(again, a)).warnings).toEqual([]);
          return { input, output };
        },
      ] as const,
  ),
  [
    'chunks of a stream',
    20,
    async () => {
      const { codec, a } = endpoints();
      const text = 'a few words '.repeat(300);
      let output = 0;
      for await (const message of streamMessages(text.replaceAll(' ', '_'), {
        operation: 'infer',
        correlationId: 'c',
      })) {
        output += codec.encode(message, a).frames.join('').length;
      }
      return { input: text.length, output };
    },
  ],
  [
    'a checkpoint of maps below a long key',
    20,
    async () => {
      const { codec, b } = endpoints({ checkpoints: 'manual' }, { budgets: { hot: 1e6, hotTrigger: 1e6 } });
      const members = Array.from({ length: 900 }, (_, index) => `k${index}:${index}`).join(',');
      const payload = `${'n'.repeat(9000)}:{${members}}`;
      accepted(codec.decode(`@a>req:x{${payload}}[mid:m1,seq:1,ts:1714000000]`, b));
      let output = 0;
      const tools = createCodec({
        checkpointTools: {
          summarize: ({ facts }) => {
            output = json(facts);
            return 'short';
          },
        },
      });
      const { summary, facts } = await tools.checkpoint(b);
      return { input: payload.length, output: output + json(facts) + summary.length };
    },
  ],
  [
    'a rendered message of maps below a long key',
    20,
    () => {
      const members = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, 1]));
      const payload = { ['n'.repeat(9000)]: { ...members, text: 'two\nlines' } };
      return { input: json(payload), output: renderForContext(messageOf(payload)).text.length };
    },
  ],
  [
    'a rendered message of maps within maps',
    40,
    () => {
      let payload: Json = {
        text: 'two\nlines',
        ...Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, 1])),
      };
      for (let depth = 0; depth < 100; depth++) payload = { ['n'.repeat(20)]: payload };
      return { input: json(payload), output: renderForContext(messageOf(payload as never)).text.length };
    },
  ],
  [
    'a rendered message of what cannot be seen',
    8,
    () => {
      const payload = { text: '\u{e0041}\u200b'.repeat(2000) };
      return { input: json(payload), output: renderForContext(messageOf(payload)).text.length };
    },
  ],
  [
    'rendered rows that lack keys',
    4,
    () => {
      const rows = Array.from({ length: 400 }, (_, at) => ({ ...(at % 4 === 0 ? {} : { a: 1 }), b: 1, c: 1, d: 1 }));
      const alone = Array.from({ length: 400 }, (_, at) => ({ [`k${at}`]: 1 }));
      return { input: json({ rows, alone }), output: renderJson({ rows, alone }).text.length };
    },
  ],
  [
    'rendered rows of maps below long keys',
    20,
    () => {
      const members = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, 1]));
      const row = { ['n'.repeat(60)]: { ['n'.repeat(9000)]: members, ...members } };
      return { input: json([row, row]), output: renderJson([row, row, [row, row]]).text.length };
    },
  ],
  [
    'an explanation of a frame',
    30,
    () => {
      const frame = `@a>req:x{${Array.from({ length: 2000 }, (_, i) => `k${i}:[~,~,true,$a,{},[]]`).join('|')}}`;
      return { input: frame.length, output: explainFrame(frame).length };
    },
  ],
  [
    'a prompt for a model',
    120,
    async () => {
      const operations = Array.from({ length: 200 }, (_, index) => `o${index}`);
      const { text } = await framePrompt({ operations });
      return { input: json(operations), output: text.length };
    },
  ],
  [
    'the error frame of a frame that was refused',
    5,
    () => {
      const { codec, b } = endpoints();
      const frame = `@a>req:x{a:$${'k'.repeat(100_000)}}[mid:m1,seq:1,ts:1714000000]`;
      return { input: frame.length, output: rejected(codec.decode(frame, b)).reply!.length };
    },
  ],
  ...(
    [
      ['empty fields', '|'.repeat(50_000)],
      ['fields without a colon', '|x'.repeat(50_000)],
      ['unknown keys', Array.from({ length: 20_000 }, (_, index) => `|k${index}:`).join('')],
      ['controls and capitals', '|P:\u0001'.repeat(20_000)],
    ] as const
  ).map(
    ([name, fields]) =>
      [
        `findings about a packet of ${name}`,
        8,
        () => {
          const packet = `FETCH|HR${fields}`;
          const { valid, errors, warnings } = validatePacket(packet);
          expect(valid).toBe(false);
          const all = [...errors, ...warnings];
          for (const list of [errors, warnings]) expect(list.length).toBeLessThanOrEqual(101);
          expect(all.some(({ code, message }) => code === 'more-findings' && /^\d+ more /.test(message))).toBe(true);
          const texts = all.map((one) => formatDiagnostic(one, packet)).join('\n');
          return { input: packet.length, output: json(all) + texts.length };
        },
      ] as const,
  ),
];

function messageOf(payload: { readonly [key: string]: Json }) {
  return { agent: 'a', intent: 'req', operation: 'x', payload, envelope: { msg_id: 'm', sequence: 1 } };
}

describe('the output is in proportion to the input', () => {
  test.each(AMPLIFIERS)('%s: at most %i characters for each', async (_name, most, make) => {
    const { input, output } = await make();
    expect(output).toBeGreaterThan(0);
    expect(output / input).toBeLessThanOrEqual(most);
  });

  test('a count of findings is exact', () => {
    const { errors } = validatePacket(`FETCH|HR|return:A|p:1|aacp:1.1${'|'.repeat(500)}`);
    expect(errors).toHaveLength(101);
    expect(errors[100]).toMatchObject({ code: 'more-findings', message: '400 more errors are not listed.' });
  });

  test('a schema of larger defaults is rejected', () => {
    const defaults = { a: 'x'.repeat(5000) };
    const codec = createCodec();
    expect(() => codec.registerSchema('wide', { code: 'W', version: 1, fields: ['a'], defaults })).toThrow(
      expect.objectContaining({ code: 'E1004' }),
    );
  });
});
