/** Chunks that no receiver could accept are not sent (draft-benzing-accp-00, section 10.4). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Journal } from '../../../src/accp/store/journal.js';
import { memoryStore } from '../../../src/accp/store/memory.js';
import { SentStreams, type StreamFrame } from '../../../src/accp/streams/sent-streams.js';
import { runs } from '../../helpers/runs.js';
import { endpoints } from '../codec/endpoints.js';
import { codeOf, receiver } from './helpers.js';

interface More {
  readonly total?: number;
  readonly final?: boolean;
  readonly intent?: string;
}

function piece(index: number, { total, final, intent = 'stream' }: More = {}): StreamFrame {
  return {
    intent,
    schema: 'ST',
    payload: {
      chunk_index: index,
      data: 'x',
      ...(total === undefined ? {} : { total_chunks: total }),
      ...(final === undefined ? {} : { is_final: final }),
    },
  };
}

const END: StreamFrame = { intent: 'end', payload: {} };
const FAIL: StreamFrame = { intent: 'fail', schema: 'ER', payload: { code: 'E9999', message: 'x' } };

function fresh(): SentStreams {
  return new SentStreams(new Journal(memoryStore().claim('s', 'a'), false));
}

/** Sends frames under one correlation, and gives the code of the last one's error. */
function send(frames: readonly StreamFrame[], streams = fresh()): string | undefined {
  for (const frame of frames.slice(0, -1)) {
    streams.check('c', frame);
    streams.sent('c', frame);
  }
  return codeOf(() => streams.check('c', frames.at(-1)!));
}

describe('the sent chunks of a stream', () => {
  test.each<[what: string, frames: StreamFrame[], code: string | undefined]>([
    ['chunks up to the final one, and the end', [piece(0), piece(1, { final: true }), END], undefined],
    ['the end a second time', [piece(0, { final: true }), END, END], undefined],
    ['the end that is the final chunk', [piece(0), piece(1, { final: true, intent: 'end' })], undefined],
    ['an end of something without chunks', [END], undefined],
    ['a failure', [piece(0), FAIL], undefined],
    ['the end after a failure', [piece(0), FAIL, END], undefined],
    ['a total that comes late', [piece(0), piece(1, { total: 3 }), piece(2, { final: true })], undefined],
    ['a chunk in front of the final one, after it', [piece(1, { final: true }), piece(0)], undefined],
    ['an index twice', [piece(0), piece(0)], 'E1004'],
    ['an index twice, beyond a gap', [piece(2), piece(2)], 'E1004'],
    ['an index twice, beyond a gap that was filled', [piece(1), piece(0), piece(1)], 'E1004'],
    ['a chunk beyond the final one', [piece(1, { final: true }), piece(2)], 'E3003'],
    ['a chunk after all were sent', [piece(0), piece(1, { final: true }), piece(2)], 'E3003'],
    ['the first chunk after all were sent', [piece(0), piece(1, { final: true }), piece(0)], 'E3003'],
    ['a chunk after the end', [piece(0, { final: true }), END, piece(1)], 'E3003'],
    ['a chunk after a failure', [piece(0), FAIL, piece(1)], 'E3003'],
    ['the end without a final chunk', [piece(0), piece(1), END], 'E3003'],
    ['the end with a gap', [piece(0), piece(2, { final: true }), END], 'E3003'],
    ['the end that is a chunk, but not the final one', [piece(0), piece(1, { intent: 'end' })], 'E3003'],
    ['another total', [piece(0, { total: 3 }), piece(1, { total: 4 })], 'E1004'],
    ['an index beyond the total', [piece(0, { total: 2 }), piece(2)], 'E1004'],
    ['a final chunk in front of the total', [piece(0, { total: 3 }), piece(1, { final: true })], 'E1004'],
    ['a final chunk in front of another', [piece(3), piece(1, { final: true })], 'E1004'],
  ])('%s', (_what, frames, code) => {
    expect(send(frames)).toBe(code);
  });

  test('a rejected chunk changes nothing', () => {
    const streams = fresh();
    expect(send([piece(0), piece(0)], streams)).toBe('E1004');
    expect(codeOf(() => streams.check('c', piece(1, { final: true })))).toBe(undefined);
    expect(codeOf(() => streams.check('other', piece(0)))).toBe(undefined);
  });

  test('only a limited number of chunks is sent before a missing one', () => {
    const streams = fresh();
    for (let index = 1; index <= 1024; index++) streams.sent('c', piece(index));
    expect(codeOf(() => streams.check('c', piece(1025)))).toBe('E1004');
    expect(send([piece(0), piece(1025)], streams)).toBe(undefined);
  });

  test('the number of stored streams is limited', () => {
    const streams = fresh();
    for (let number = 0; number <= 4096; number++) streams.sent(`c${number}`, piece(0));
    expect(codeOf(() => streams.check('c0', piece(0)))).toBe(undefined);
    expect(codeOf(() => streams.check('c1', piece(0)))).toBe('E1004');
  });

  test('a receiver accepts exactly the chunks that can be sent', () => {
    const frames = fc.array(
      fc.record({
        index: fc.integer({ min: 0, max: 5 }),
        total: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
        final: fc.boolean(),
      }),
      { maxLength: 12 },
    );
    const property = fc.property(frames, (all) => {
      const sender = fresh();
      const { streams } = receiver();
      for (const { index, total, final } of all) {
        const frame = piece(index, { final, ...(total === undefined ? {} : { total }) });
        const refused = codeOf(() => sender.check('c', frame)) !== undefined;
        if (!refused) sender.sent('c', frame);
        const chunk = { index, total, final, data: 'x' };
        expect(codeOf(() => streams.accept('c', 'peer', chunk)) !== undefined).toBe(refused);
      }
    });
    fc.assert(property, runs(500));
  });
});

describe('through a codec', () => {
  const envelope = { correlation_id: 'c1' };
  const chunk = {
    intent: 'stream',
    operation: 'infer',
    schema: 'ST',
    payload: { chunk_index: 0, data: 'x' },
    envelope,
  };
  const end = { intent: 'end', operation: 'infer', envelope };

  test('a chunk that must not be sent is rejected, and takes no number', () => {
    const { codec, a } = endpoints();
    const first = codec.encode(chunk, a);
    expect(() => codec.encode(chunk, a)).toThrow(expect.objectContaining({ code: 'E1004' }));
    expect(() => codec.encode(end, a)).toThrow(expect.objectContaining({ code: 'E3003' }));
    const second = codec.encode({ ...chunk, payload: { chunk_index: 1, data: 'y', is_final: true } }, a);
    const numbers = [first, second].map(({ frames }) => /seq:([0-9]+)/.exec(frames[0]!)?.[1]);
    expect(Number(numbers[1])).toBe(Number(numbers[0]) + 1);
    expect(codec.encode(end, a).frames).toHaveLength(1);
  });
});
