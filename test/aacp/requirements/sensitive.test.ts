/** Sensitive data in packets, and the storage of instructions (draft-mackay-aacp-01, section 15). */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { listWorkflows } from '../../../src/aacp/encoders/index.js';
import { validatePacket } from '../../../src/aacp/index.js';
import { lintPacket } from '../../../src/aacp/lint/lint.js';
import { defaultRegistryFile, sqliteRegistry } from '../../../src/aacp/registry/sqlite.js';
import { EXAMPLES, HEAD } from './draft.js';

describe('sensitive data (section 15)', () => {
  test.each([
    ['an e-mail address', 'filter:email=jo.smith@example.com', 'jo.smith'],
    ['a payment card number', 'data_ptr:4111111111111111', '4111'],
    ['an IBAN', 'to:GB82WEST12345698765432', 'WEST'],
    ['a key', `flag_msg:AKIA${'IOSFODNN7EXAMPLE'}`, 'IOSFODNN'],
    ['a password', 'filter:password=hunter2', 'hunter2'],
  ])('%s in a value is a warning that does not repeat it', (_what, field, secret) => {
    const found = lintPacket(`${HEAD}|${field}`);
    expect(found.map(({ code, severity, section }) => [code, severity, section])).toEqual([
      ['sensitive-value', 'warning', '15'],
    ]);
    expect(JSON.stringify(found)).not.toContain(secret);
    expect(validatePacket(`${HEAD}|${field}`).valid).toBe(true);
  });

  test.each(EXAMPLES)('the examples of the draft give no findings: %s', (_name, ...lines) => {
    expect(lintPacket(lines.join(''))).toEqual([]);
  });

  test('personal inputs of the workflows are left out of the packets', () => {
    const personal = listWorkflows().flatMap(({ encoder, methods }) =>
      methods.flatMap(({ name, inputs, example }) =>
        inputs.filter((input) => input.personal).map((input) => ({ step: `${encoder}.${name}`, input, example })),
      ),
    );
    expect(personal.length).toBeGreaterThan(1);
    for (const { step, input, example } of personal) {
      const packets = example!.packets.join('\n');
      expect(packets, step).not.toContain(String(input.example));
      expect(packets, step).toContain('|data_ptr:');
    }
  });

  test('no example packet of any workflow gives a finding', () => {
    for (const { methods } of listWorkflows()) {
      for (const { example } of methods)
        for (const text of example!.packets) expect(lintPacket(text), text).toEqual([]);
    }
  });
});

describe('the registry file (section 15)', () => {
  let folder = '';

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'pegwire-requirements-'));
  });

  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });

  test.skipIf(process.platform === 'win32')('only its owner can read it, and its folder', async () => {
    const file = path.join(folder, 'data', 'registry.db');
    (await sqliteRegistry(file)).close();
    expect([statSync(file).mode & 0o777, statSync(path.dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  test('by default it is in the user’s data folder, not in the working directory', () => {
    vi.stubEnv('PEGWIRE_DATA_DIR', '');
    vi.stubEnv('XDG_DATA_HOME', '');
    const file = defaultRegistryFile();
    expect(file.startsWith(homedir())).toBe(true);
    expect(file.startsWith(process.cwd())).toBe(false);
    vi.stubEnv('PEGWIRE_DATA_DIR', folder);
    expect(defaultRegistryFile()).toBe(path.join(folder, 'registry.db'));
  });

  test('a damaged one is set aside unchanged, and reported', async () => {
    const file = path.join(folder, 'registry.db');
    const damaged = Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(50, 7)]);
    writeFileSync(file, damaged);
    const failure: unknown = await sqliteRegistry(file).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'StoreError', code: 'store-corrupt' });
    const [aside, ...more] = readdirSync(folder).filter((name) => name.startsWith('registry.db.corrupt-'));
    expect([more, (failure as Error).message]).toEqual([[], expect.stringContaining(aside!)]);
    expect(readFileSync(path.join(folder, aside!))).toEqual(damaged);
    // The next opening starts a new file, and does not touch the old one.
    (await sqliteRegistry(file)).close();
    expect(readFileSync(path.join(folder, aside!))).toEqual(damaged);
  });
});
