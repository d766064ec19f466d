import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = process.cwd();
const scratch = mkdtempSync(path.join(tmpdir(), 'pegwire-scratch-'));
const tsc = createRequire(import.meta.url).resolve('typescript/lib/tsc.js');

function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

beforeAll(() => {
  run('npm', ['pack', '--silent', '--pack-destination', scratch], root);
  const tarball = readdirSync(scratch).find((file) => file.endsWith('.tgz'))!;
  cpSync(path.join(root, 'test/package/scratch/use.ts'), path.join(scratch, 'use.ts'));
  const config = readFileSync(path.join(root, 'test/package/scratch/tsconfig.json'), 'utf8');
  writeFileSync(
    path.join(scratch, 'tsconfig.json'),
    config.replace('TYPE_ROOTS', path.join(root, 'node_modules/@types')),
  );
  writeFileSync(path.join(scratch, 'package.json'), JSON.stringify({ name: 'scratch', private: true, type: 'module' }));
  run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', `./${tarball}`], scratch);
});

afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

test('a project that installs the package type-checks, with values narrowing by kind, and runs', () => {
  run(process.execPath, [tsc, '-p', '.'], scratch);
  expect(JSON.parse(run(process.execPath, ['use.js'], scratch))).toEqual([
    'launch',
    true,
    'E1004 payload.goal',
    true,
    'array of 2 0',
    '@a>b:c{k:\\@dev}',
    'A',
    'ACK',
    'empty-field',
    'did you mean "FETCH"?',
    false,
    4,
    'ACK|HR|return:A',
    ...[true, true, true, true],
  ]);
});

test('its command runs', () => {
  const bin = path.join(scratch, 'node_modules/.bin/pegwire');
  expect(run(bin, ['demo', '--no-color'], scratch)).toMatch(/^aacp: \d+ packets/m);
});

test('its commands find their grammars, cases and adapters', () => {
  const bin = path.join(scratch, 'node_modules/.bin/pegwire');
  const adapter = path.join(scratch, 'adapter.mjs');
  cpSync(path.join(scratch, 'node_modules/pegwire/test/examples/adapters/node-adapter.mjs'), adapter);
  const target = `"${process.execPath}" "${adapter}"`;
  expect(run(bin, ['fuzz', 'aacp', '--target', target, '--count', '200', '--seed', '1'], scratch)).toContain(
    'disagrees on none',
  );
  expect(run(bin, ['conformance', 'aacp', '--target', target], scratch)).toMatch(/\d+ cases: \d+ passed/);
  expect(run(bin, ['export', 'aacp', '--to', 'gbnf'], scratch)).toContain('root ::=');
  expect(run(bin, ['prompt', 'aacp'], scratch)).toContain('AACP');
  const messages = path.join(scratch, 'messages.jsonl');
  writeFileSync(messages, '{"agent":"a","intent":"req","operation":"plan","payload":{"goal":"launch"}}\n');
  expect(run(bin, ['encode', 'accp', messages], scratch)).toMatch(/^@a>req:plan{goal:launch}\[mid:/);
  expect(run(bin, ['tokens', messages], scratch)).toMatch(/^ +1 +json +\d+/m);
});

test('its files are what an importer needs, and nothing else', () => {
  const installed = path.join(scratch, 'node_modules/pegwire');
  expect(readdirSync(installed).sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist',
    'grammar',
    'llms.txt',
    'package.json',
    'src',
    'test',
  ]);
  expect(readdirSync(path.join(installed, 'test')).sort()).toEqual(['conformance', 'examples']);
  expect(
    readdirSync(path.join(scratch, 'node_modules'))
      .filter((name) => !name.startsWith('.'))
      .sort(),
  ).toEqual([
    // Peggy and acorn, for the plugin, with what Peggy needs; SQLite with its own; the user's folders, with their own; hashes,
    // stems, tokens, diagrams, schemas, servers.
    ...['@noble', '@peggyjs', '@photostructure', '@remix-run', '@toon-format', 'acorn', 'commander', 'env-paths'],
    'gpt-tokenizer',
    ...[
      'is-safe-filename',
      'moo',
      'node-addon-api',
      'node-gyp-build',
      'peggy',
      'pegwire',
      'railroad-diagrams',
      'semver',
    ],
    ...['source-map-generator', 'stemmer', 'ulid', 'ws', 'zod'],
  ]);
});
