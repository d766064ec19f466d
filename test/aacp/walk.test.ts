import { expect, test } from 'vitest';
import { parsePacket, walkPacket } from '../../src/aacp/index.js';

const packet = parsePacket('FETCH|HR|return:A|p:1|p:2');

test('the packet is visited first, then its fields with their indices', () => {
  const seen: string[] = [];
  walkPacket(packet, {
    packet: ({ task }) => seen.push(task),
    field: ({ key, value }, index) => seen.push(`${index} ${key}:${value}`),
  });
  expect(seen).toEqual(['FETCH', '0 return:A', '1 p:1', '2 p:2']);
});

test('a packet visitor that returns false skips the fields', () => {
  const seen: string[] = [];
  walkPacket(packet, { packet: () => false, field: ({ key }) => seen.push(key) });
  expect(seen).toEqual([]);
});

test('a field visitor cannot end the walk', () => {
  const seen: number[] = [];
  walkPacket(packet, {
    field: (_field, index) => {
      seen.push(index);
      return false;
    },
  });
  expect(seen).toEqual([0, 1, 2]);
});

test('both visitors may be missing', () => {
  const seen: string[] = [];
  walkPacket(packet, { packet: ({ domain }) => seen.push(domain) });
  walkPacket(packet, {});
  expect(seen).toEqual(['HR']);
});
