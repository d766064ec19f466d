import { describe, expect, test } from 'vitest';
import { accepted, converse, decodeAll, endpoints, rejected } from './endpoints.js';

describe('state on both sides', () => {
  test('is synchronized by deltas', () => {
    const { codec, a, b } = endpoints();
    const first = codec.syncState({ phase: 'one', open: 3, list: [1, 2] }, a);
    accepted(codec.decode(first.frames[0]!, b));
    const second = codec.syncState({ phase: 'two', list: [1, 2] }, a);
    expect(second.frames[0]).toContain('{v:2|delta:{open:~,phase:two}}');
    accepted(codec.decode(second.frames[0]!, b));
    expect(b.state.values()).toEqual({ phase: 'two', list: [1, 2] });
    expect(b.state.version).toBe(2);
    expect(a.state.values()).toEqual(b.state.values());
  });

  test('a delta for another base is rejected with our version', () => {
    const { codec, b } = endpoints();
    codec.syncState({ phase: 'one' }, b);
    const { error, reply } = rejected(codec.decode('@a>sync:state{v:9|delta:{x:1}}[mid:m9,seq:2]', b));
    expect(error).toMatchObject({ code: 'E2001', path: 'payload.version' });
    expect(reply).toContain('v:1|want:full_state|');
    expect(b.state.values()).toEqual({ phase: 'one' });
  });

  test('recovers by itself if one side has lost the state', () => {
    const { codec, a, b } = endpoints({ text: 'transliterate' }, { sequence: 'sender' });
    a.state.applyFull(7, { phase: 'six', d: 'a key of its own' });
    const { frames } = codec.syncState({ phase: 'seven', d: 'a key of its own' }, a);
    converse(codec, frames, a, b);
    expect(b.state.version).toBe(8);
    expect(b.state.values()).toEqual({ phase: 'seven', d: 'a key of its own' });
  });

  test('may also be sent in full, as in the draft', () => {
    const { codec, b } = endpoints();
    const outcome = decodeAll(codec, ['@a>sync:state{v:3|phase:planning|open:2}[mid:m1,seq:1]'], b);
    expect(accepted(outcome).message.payload).toEqual({ version: 3, phase: 'planning', open: 2 });
    expect(b.state.values()).toEqual({ phase: 'planning', open: 2 });
  });

  test('cannot contain null, which removes a key in a delta', () => {
    const { codec, a } = endpoints();
    expect(() => codec.syncState({ phase: null }, a)).toThrow(expect.objectContaining({ code: 'E1004' }));
  });
});
