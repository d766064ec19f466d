/** Programs for processes of their own, in one file: to compile them in each process would take most of their time. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { sourceAliases } from './source-aliases.js';

const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));

export interface BundleOptions {
  /** Where packages are large, a program that has them in it starts much faster. @default 'external', 'bundle' for browsers */
  readonly packages?: 'external' | 'bundle' | undefined;
  /** @default 'node' */
  readonly platform?: 'node' | 'browser' | undefined;
}

export interface CompiledProgram {
  readonly file: string;
  readonly remove: () => void;
}

/** Compiles a TypeScript file with what it imports. It may import the package by its name. */
export async function compileProgram(source: URL, options: BundleOptions = {}): Promise<CompiledProgram> {
  const { platform = 'node', packages = platform === 'node' ? 'external' : 'bundle' } = options;
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-program-'));
  const outfile = path.join(folder, 'program.mjs');
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    symlinkSync(PACKAGES, path.join(folder, 'node_modules'));
    await build({
      entryPoints: [fileURLToPath(source)],
      outfile,
      alias: sourceAliases(),
      bundle: true,
      packages,
      platform,
      format: 'esm',
      logLevel: 'error',
    });
  } catch (thrown) {
    remove();
    throw thrown;
  }
  return { file: outfile, remove };
}

/**
 * Compiles a program before the tests of a file, and deletes it after them.
 *
 * @returns gives the path of the program, from the tests on
 */
export function bundledProgram(source: URL, options?: BundleOptions): () => string {
  let program: CompiledProgram | undefined;
  beforeAll(async () => {
    program = await compileProgram(source, options);
  });
  afterAll(() => program?.remove());
  return () => program!.file;
}
