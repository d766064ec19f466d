/** Programs bundled into one file, so that child processes do not have to compile them. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { sourceAliases } from './source-aliases.js';

const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));

export interface BundleOptions {
  /** The handling of packages. A program that bundles large packages starts much faster. @default 'external', or 'bundle' for browsers */
  readonly packages?: 'external' | 'bundle' | undefined;
  /** The platform. @default 'node' */
  readonly platform?: 'node' | 'browser' | undefined;
}

export interface CompiledProgram {
  readonly file: string;
  readonly remove: () => void;
}

/** Compiles a TypeScript file and its imports. It may import the package by its name. */
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
 * @returns a function for the tests that returns the path of the program
 */
export function bundledProgram(source: URL, options?: BundleOptions): () => string {
  let program: CompiledProgram | undefined;
  beforeAll(async () => {
    program = await compileProgram(source, options);
  });
  afterAll(() => program?.remove());
  return () => program!.file;
}
