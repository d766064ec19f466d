/** Several processes on one registry, and processes that are killed. */

import { describe, expect, test } from 'vitest';
import { sqliteRegistry } from '../../../src/aacp/registry/sqlite.js';
import { passingTime } from '../../helpers/passing-time.js';
import { freshFiles } from '../../storage/folder.js';
import { integrityOf, killTimeAndAgain, working } from './children.js';
import { sample } from './sample.js';

const fresh = freshFiles();

describe('several processes', () => {
  test('keep all entries and all counts of each process', async () => {
    const file = fresh();
    const names = Array.from({ length: 8 }, (_, index) => `process${index}`);
    const children = await Promise.all(names.map((name) => working([file, 'put', name, '50'])));
    for (const { code, stderr, lines } of children) expect([code, stderr, lines.length]).toEqual([0, '', 50]);
    const registry = await sqliteRegistry(file);
    const kept = new Map(Array.from(registry.entries(), (entry) => [entry.key, entry]));
    expect(kept.size).toBe(400);
    for (const key of children.flatMap(({ lines }) => lines)) expect(kept.get(key)?.timesSeen).toBe(2);
    expect(registry.statistics()).toMatchObject({ entries: 400, timesSeen: 800, served: 400 });
    registry.close();
    expect(await integrityOf(file)).toEqual(['ok']);
  });

  test('find one frequent entry each time, while another process writes', async () => {
    const file = fresh();
    const registry = await sqliteRegistry(file);
    const { key } = registry.put(sample('hot'));
    const [writer, ...readers] = await Promise.all([
      working([file, 'put', 'writer', '200']),
      ...Array.from({ length: 4 }, () => working([file, 'read', key, '2000'])),
    ]);
    expect(writer).toMatchObject({ code: 0, stderr: '' });
    for (const reader of readers) expect(reader).toEqual({ code: 0, stderr: '', lines: ['2000'] });
    // This process has had the entry in memory all the time.
    expect(registry.get(key)?.timesSeen).toBe(1 + 4 * 2000);
    expect(registry.statistics().entries).toBe(201);
    registry.close();
  });

  test('get each reservation once', async () => {
    const file = fresh();
    const children = await Promise.all(Array.from({ length: 4 }, () => working([file, 'reserve', '100'])));
    for (const { code, stderr } of children) expect([code, stderr]).toEqual([0, '']);
    const given = children.flatMap(({ lines }) => lines.map(Number)).sort((a, b) => a - b);
    expect(given).toEqual(Array.from({ length: 100 }, (_, number) => number));
  });
});

describe('a process that is killed', () => {
  test('loses no entry that it had put, and leaves the file intact', async () => {
    await killTimeAndAgain(fresh(), 5);
  });

  test('blocks others only until its reservation expires', async () => {
    const file = fresh();
    const { code } = await working([file, 'reserve', '1000000'], (line, kill) => {
      if (line === '20') kill();
    });
    expect(code).not.toBe(0);
    const clock = passingTime(Date.now());
    const registry = await sqliteRegistry(file, { now: () => clock.now });
    expect(registry.reserve(sample(5).key, 1000)).toMatchObject({ kind: 'taken' });
    clock.now += 60_000;
    expect(registry.reserve(sample(5).key, 1000)).toMatchObject({ kind: 'granted' });
    registry.close();
  });
});
