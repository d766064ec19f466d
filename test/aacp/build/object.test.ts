import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EncodeError, fromObject, packetHash, samePacket, toObject } from '../../../src/aacp/build/index.js';
import { canonicalizePacket, type Packet, parsePacket, printPacket } from '../../../src/aacp/index.js';
import { packets } from '../../helpers/aacp-arbitraries.js';
import { runs } from '../../helpers/runs.js';

function refusal(make: () => unknown): { code: string; path: string } {
  try {
    make();
  } catch (error) {
    if (!(error instanceof EncodeError)) throw error;
    return { code: error.code, path: error.path };
  }
  throw new Error('was accepted');
}

const unrepeated = packets.map(({ fields, ...head }): Packet => {
  const taken = new Set(['task', 'domain']);
  return { ...head, fields: fields.filter(({ key }) => !taken.has(key) && taken.add(key)) };
});

describe('objects', () => {
  test('a packet becomes a flat object without a prototype, with its fields in order', () => {
    const object = toObject(parsePacket('FETCH|HR|return:A|zeta:1|constructor:x|res:'));
    expect(Object.getPrototypeOf(object)).toBeNull();
    expect(Object.entries(object)).toEqual([
      ['task', 'FETCH'],
      ['domain', 'HR'],
      ['return', 'A'],
      ['zeta', '1'],
      ['constructor', 'x'],
      ['res', ''],
    ]);
  });

  test('a round trip through JSON changes nothing', () => {
    const law = fc.property(unrepeated, (packet) => {
      expect(fromObject(JSON.parse(JSON.stringify(toObject(packet))))).toEqual(packet);
    });
    fc.assert(law, runs(500));
  });

  test('values are written as packet() writes them', () => {
    const packet = fromObject({
      task: 'ACK',
      return: 'A',
      domain: 'HR',
      amt: 1e-7,
      fields: ['a', 'b'],
      res: null,
      fmt: [],
    });
    expect(printPacket(packet)).toBe('ACK|HR|return:A|amt:0.0000001|fields:a,b');
  });

  test.each<[unknown, string, string]>([
    [{ domain: 'HR' }, 'missing-input', 'task'],
    [Object.create({ task: 'ACK', domain: 'HR' }), 'missing-input', 'task'],
    [{ task: 'ACK', domain: 'hr' }, 'bad-dom', 'domain'],
    [{ task: 'ACK', domain: 'HR', res: 'a|b' }, 'unprintable', 'res'],
    [{ task: 'ACK', domain: 'HR', res: 'a\nb' }, 'unprintable', 'res'],
    [{ task: 'ACK', domain: 'HR', Res: 'a' }, 'bad-key', 'Res'],
    [JSON.parse('{"task":"ACK","domain":"HR","__proto__":"a"}'), 'bad-key', '__proto__'],
    [{ task: 'ACK', domain: 'HR', res: { a: 1 } }, 'bad-input', 'res'],
    [{ task: 'ACK', domain: 'HR', res: ['a,b'] }, 'list-separator', 'res[0]'],
    [null, 'bad-input', 'packet'],
    ['ACK|HR', 'bad-input', 'packet'],
    [[], 'bad-input', 'packet'],
  ])('%j is not a packet: %s at %s', (object, code, path) => {
    expect(refusal(() => fromObject(object as never))).toEqual({ code, path });
  });

  test.each<[string, string, string]>([
    ['A|B|return:x|return:y', 'duplicate-key', 'return'],
    ['A|B|task:x', 'bad-key', 'task'],
    ['A|B|domain:x', 'bad-key', 'domain'],
    ['A|B|res', 'unprintable', 'fields[0]'],
    ['A|B|Res:x', 'unprintable', 'fields[0].key'],
    ['a|B|res:x', 'unprintable', 'task'],
  ])('%s cannot be an object: %s at %s', (text, code, path) => {
    expect(refusal(() => toObject(parsePacket(text, { dialect: 'tolerant' })))).toEqual({ code, path });
  });
});

describe('hashes', () => {
  test('the hash of a packet is the SHA-256 of its canonical text', () => {
    expect(packetHash('ACK|HR|return:A|aacp:1.1')).toBe(
      // printf 'ACK|HR|return:A|aacp:1.1' | sha256sum
      '9144e7fbce1b31dd9e7d3cc34a695ba74071011735774deec9233c802a21ea7c',
    );
  });

  test.each([
    ['in another order', 'ACK|HR|res:x|p:2|return:A|zeta:1|alpha:2', 'ACK|HR|return:A|p:2|res:x|alpha:2|zeta:1'],
    ['with blanks and line ends', 'ACK | HR |\nreturn:A', 'ACK|HR|return:A'],
    ['with an amount in other digits', 'PROC|FIN|return:A|amt:4200.50', 'PROC|FIN|return:A|amt:4200.5'],
  ])('the same packet %s has the same hash', (_name, a, b) => {
    expect(samePacket(a, b)).toBe(true);
    expect(packetHash(a)).toBe(packetHash(b));
    expect(packetHash(parsePacket(a, { dialect: 'tolerant' }))).toBe(packetHash(b));
  });

  test.each([
    ['another value', 'ACK|HR|return:A', 'ACK|HR|return:B'],
    ['another TASK', 'ACK|HR|return:A', 'SYNC|HR|return:A'],
    ['repeated keys in another order', 'ACK|HR|return:A|return:B', 'ACK|HR|return:B|return:A'],
    ['a key in capitals', 'ACK|HR|return:A', 'ACK|HR|Return:A'],
  ])('%s makes a different packet', (_name, a, b) => {
    expect(samePacket(a, b)).toBe(false);
    expect(packetHash(a)).not.toBe(packetHash(b));
  });

  test('packets with equal canonical forms have equal hashes, and only those', () => {
    const law = fc.property(packets, packets, (a, b) => {
      expect(samePacket(a, b)).toBe(printPacket(canonicalizePacket(a)) === printPacket(canonicalizePacket(b)));
      expect(samePacket(a, printPacket(a))).toBe(true);
      expect(packetHash(a)).toBe(packetHash(printPacket(canonicalizePacket(a))));
    });
    fc.assert(law, runs(200));
  });

  test.each([
    ['a field without a colon', () => packetHash('ACK|HR|x')],
    ['no TASK', () => packetHash('|HR|return:A')],
    ['no DOM', () => packetHash('ACK||return:A')],
    [
      'a separator in a value',
      () => packetHash({ kind: 'packet', task: 'ACK', domain: 'HR', fields: [{ key: 'a', value: 'b|c:d' }] }),
    ],
    ['an object that is not a packet', () => packetHash({} as never)],
    [
      'a value that is not a text',
      () => packetHash({ kind: 'packet', task: 'ACK', domain: 'HR', fields: [{ key: 'a', value: 1 as never }] }),
    ],
  ])('a packet with %s has no hash', (_name, make) => {
    expect(make).toThrow(expect.objectContaining({ name: 'EncodeError', code: 'unprintable' }));
  });

  test.each([
    [null, 'packet'],
    [undefined, 'packet'],
    [{}, 'packet'],
    [{ kind: 'packet', task: 5, domain: 'HR', fields: [] }, 'task'],
    [{ kind: 'packet', task: 'ACK', domain: 'a|b', fields: [] }, 'domain'],
    [{ kind: 'packet', task: 'ACK', domain: 'HR', fields: null }, 'fields'],
    [{ kind: 'packet', task: 'ACK', domain: 'HR', fields: [null] }, 'fields[0]'],
    [tree({ key: 'z', value: 'x' }, { key: '', value: 'x', bare: true }, { key: 'return', value: 'A' }), 'fields[1]'],
    [tree({ key: 'z', value: 'x' }, { key: 'a|b', value: 'x' }, { key: 'return', value: 'A' }), 'fields[1].key'],
    [tree({ key: 'z', value: 'x|y' }, { key: 'return', value: 'A' }), 'z'],
    [tree({ key: 'z', value: 5 }, { key: 'return', value: 'A' }), 'z'],
  ])('hashes, comparisons and objects throw the same error for an invalid packet: %j', (bad, path) => {
    const error = expect.objectContaining({ name: 'EncodeError', code: 'unprintable', path });
    expect(() => packetHash(bad as never)).toThrow(error);
    expect(() => samePacket('ACK|HR|return:A', bad as never)).toThrow(error);
    expect(() => toObject(bad as never)).toThrow(error);
  });
});

function tree(...fields: readonly object[]): object {
  return { kind: 'packet', task: 'ACK', domain: 'HR', fields };
}
