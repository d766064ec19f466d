/** Programs for processes of their own, in one file: to compile them in each process would take most of their time. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { sourceAliases } from './source-aliases.js';

const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));

interface BundleOptions {
  readonly packages?: 'external' | 'bundle';
}

/**
 * Compiles a program before the tests of a file, and deletes it after them.
 *
 * @param source a TypeScript file, or one that imports the package by its name
 * @param options where packages are large, a program that has them in it starts much faster
 * @returns gives the path of the program, from the tests on
 */
export function bundledProgram(source: URL, { packages = 'external' }: BundleOptions = {}): () => string {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-program-'));
  const outfile = path.join(folder, 'program.mjs');
  beforeAll(async () => {
    symlinkSync(PACKAGES, path.join(folder, 'node_modules'));
    const entryPoints = [fileURLToPath(source)];
    await build({
      entryPoints,
      outfile,
      alias: sourceAliases(),
      bundle: true,
      packages,
      platform: 'node',
      format: 'esm',
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => outfile;
}
