/** The conformance cases of compact frames, read by the session's tables, by a codec, and by an implementation of the guide in Python. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createCodec, createSession } from '../../../src/accp/codec/index.js';
import { createRegistry, type RegistryJson } from '../../../src/accp/registry/registry.js';
import { partsOfSession } from '../../../src/accp/session/session.js';
import { type Course, Reader } from './courses.js';

const SCRIPT = fileURLToPath(new URL('decoder.py', import.meta.url));
const python = ['python3', '/usr/bin/python3'].find((name) => spawnSync(name, ['--version']).status === 0);
const hint = python === undefined ? ' (skipped: python3 is missing)' : '';

function textOf(file: string): string {
  return readFileSync(new URL(`../../conformance/compact/${file}.json`, import.meta.url), 'utf8');
}

describe.each(['courses', 'rejected'])('%s.json', (file) => {
  const text = textOf(file);
  const { cases } = JSON.parse(text) as { readonly cases: readonly Course[] };

  test.each(cases)('$id', (course) => {
    const reader = new Reader(course);
    for (const { frame, plain, error, tables } of course.steps) {
      expect(reader.read(frame), frame).toEqual(error === undefined ? { plain } : { error });
      if (tables !== undefined) expect(reader.tables(), frame).toEqual(tables);
    }
  });

  // A codec has the registry of a sender from its announcement, which the cases do not contain.
  const common = cases.filter(({ steps }) => steps.every(({ frame }) => !frame.includes('tbl:reg')));

  test.each(common)('$id: a codec rejects the same frames', ({ sequence, steps }) => {
    const codec = createCodec({ now: () => 1_714_000_000_000 });
    const session = createSession({ agent: 'reader', sequence });
    // The agents have announced the profile.
    partsOfSession(session).registries.peers.set('a', {
      announcement: { version: 1, hash: codec.registry.hash, profile: 'compact1' },
    });
    for (const { frame, error } of steps) {
      const outcome = codec.decode(frame, session);
      const found = outcome.outcome === 'rejected' ? outcome.error : undefined;
      const want = found?.details['want'];
      expect(want === 'tables' || want === 'plain' ? want : undefined, frame).toBe(error?.want);
      if (error === undefined) continue;
      expect(found?.code, frame).toBe(error.code);
      // The answer has the number of the next frame.
      if (sequence === 'session') break;
    }
  });

  test.skipIf(python === undefined)(`the decoder in Python has the same results${hint}`, () => {
    const { status, stdout, stderr } = spawnSync(python!, [SCRIPT], {
      input: text,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const results = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    const steps = cases.flatMap((course) => course.steps);
    expect(results).toHaveLength(steps.length);
    for (const [at, { frame: _frame, ...expected }] of steps.entries()) expect(results[at]).toMatchObject(expected);
  });
});

interface HashCase {
  readonly registry: RegistryJson;
  readonly hashed: unknown;
  readonly hash: string;
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`;
}

test.each((JSON.parse(textOf('registries')) as { readonly cases: readonly HashCase[] }).cases)(
  '$id: the hash is that of the canonical JSON',
  ({ registry, hashed, hash }) => {
    expect(createHash('sha256').update(canonical(hashed)).digest('hex')).toBe(hash);
    expect(createRegistry(registry).hash).toBe(hash);
  },
);

test('the decoder in Python has less than 300 lines', () => {
  expect(readFileSync(SCRIPT, 'utf8').split('\n').length).toBeLessThanOrEqual(300);
});
