/** The registry that an encoder opens if none is passed. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  createFallbackEncoder,
  defaultRegistryFile,
  type FallbackOptions,
  sqliteRegistry,
} from '../../../src/aacp/fallback/index.js';
import { goodReply, scriptedModel } from '../../helpers/fallback.js';
import { freshFiles } from '../../storage/folder.js';

const INSTRUCTION = 'Chase the late timesheets of the warehouse team.';
const HR = { domain: 'HR' } as const;
const fresh = freshFiles();

beforeEach(() => {
  vi.stubEnv('PEGWIRE_DATA_DIR', path.join(fresh('data'), 'pegwire'));
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test('is a file in the data folder, which the next encoder uses', async () => {
  const { model, calls } = scriptedModel(goodReply);
  const options: FallbackOptions = { model, rules: null };
  const first = createFallbackEncoder(options);
  expect((await first.encode(INSTRUCTION, HR)).tier).toBe('model');
  await first.close();
  const second = createFallbackEncoder(options);
  expect((await second.encode(INSTRUCTION, HR)).tier).toBe('cache');
  await second.close();
  expect(calls.length).toBe(1);
  const registry = await sqliteRegistry();
  expect(registry.file).toBe(defaultRegistryFile());
  expect(registry.statistics()).toMatchObject({ entries: 1, timesSeen: 2 });
  registry.close();
});

test('is not opened before it is needed', async () => {
  const encoder = createFallbackEncoder({ rules: null });
  await encoder.encode('', HR).catch(() => {});
  await encoder.close();
  expect(existsSync(defaultRegistryFile())).toBe(false);
});

test('is closed with the encoder', async () => {
  const encoder = createFallbackEncoder({ rules: null });
  const registry = await encoder.registry();
  await encoder.close();
  expect(() => registry?.statistics()).toThrow(expect.objectContaining({ code: 'store-closed' }));
});

test('that is damaged is reported before any call, and renamed; then an empty one is created', async () => {
  const { model, calls } = scriptedModel(goodReply);
  const encoder = createFallbackEncoder({ model, rules: null });
  const file = defaultRegistryFile();
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, 'no database at all, and longer than any header of one '.repeat(100));
  await expect(encoder.encode(INSTRUCTION, HR)).rejects.toMatchObject({ code: 'store-corrupt' });
  expect(calls.length).toBe(0);
  expect(readdirSync(path.dirname(file)).filter((name) => name.includes('.corrupt-')).length).toBe(1);
  expect((await encoder.encode(INSTRUCTION, HR)).tier).toBe('model');
  await encoder.close();
});

test('that cannot be opened is reported, and opened again the next time', async () => {
  const { model, calls } = scriptedModel(goodReply);
  const encoder = createFallbackEncoder({ model, rules: null });
  vi.stubEnv('PEGWIRE_DATA_DIR', 'no absolute path');
  await expect(encoder.encode(INSTRUCTION, HR)).rejects.toMatchObject({ code: 'store-misconfigured' });
  await expect(encoder.explain(INSTRUCTION, HR)).rejects.toMatchObject({ code: 'store-misconfigured' });
  expect(calls.length).toBe(0);
  vi.stubEnv('PEGWIRE_DATA_DIR', path.dirname(fresh()));
  expect((await encoder.encode(INSTRUCTION, HR)).tier).toBe('model');
  await encoder.close();
});
