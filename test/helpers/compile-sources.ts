/** Compiles sources before all tests, so that child processes do not have to. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with the compiled sources, under the same paths as in the project. */
    compiled: string;
  }
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMPILED = ['src/cli/main.ts', 'src/acp/index.ts'];
/** Other files of the project that the programs use. */
const LINKED = ['node_modules', 'package.json', 'grammar', 'test'];

/** Compiles the sources to a temporary folder. @returns a function that deletes the folder */
export default async function compileSources(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-compiled-'));
  for (const name of LINKED) symlinkSync(path.join(ROOT, name), path.join(folder, name));
  await build({
    entryPoints: COMPILED.map((source) => path.join(ROOT, source)),
    ...{ outdir: folder, outbase: ROOT, platform: 'node', format: 'esm' },
    // Commands are loaded on demand, as in the package.
    ...{ bundle: true, splitting: true, packages: 'external' },
    // At the depth of the sources, which use relative paths.
    chunkNames: 'src/cli/commands/[name]-[hash]',
  });
  project.provide('compiled', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
