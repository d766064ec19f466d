/** The command line as a program that starts fast: compiled once, and with what commands load later still apart. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/**
 * Compiles it before the tests of a file, and deletes it after them.
 *
 * @returns gives what starts it, to be put before its arguments, from the tests on
 */
export function compiledCli(): () => readonly string[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-cli-program-'));
  const outdir = path.join(folder, 'bin');
  beforeAll(async () => {
    symlinkSync(PACKAGES, path.join(folder, 'node_modules'));
    await build({
      ...{ entryPoints: [MAIN], outdir, bundle: true, splitting: true, packages: 'external' },
      ...{ platform: 'node', format: 'esm', outExtension: { '.js': '.mjs' } },
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => [process.execPath, path.join(outdir, 'main.mjs')];
}
