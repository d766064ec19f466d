/** Before all tests, what programs are made of as JavaScript: to compile it in each process would take most of their time. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with what `COMPILED` is compiled to; in it, paths are as in the project. */
    compiled: string;
  }
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMPILED = ['src/cli/main.ts', 'src/acp/index.ts'];
/** What the programs look for in the project, beside themselves. */
const BESIDE = ['node_modules', 'package.json', 'grammar', 'test'];

/** @returns deletes it */
export default async function compileSources(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-compiled-'));
  for (const name of BESIDE) symlinkSync(path.join(ROOT, name), path.join(folder, name));
  await build({
    entryPoints: COMPILED.map((source) => path.join(ROOT, source)),
    ...{ outdir: folder, outbase: ROOT, platform: 'node', format: 'esm' },
    // What a command loads when it is called stays apart.
    ...{ bundle: true, splitting: true, packages: 'external' },
    // As deep as the sources that look for what lies beside them.
    chunkNames: 'src/cli/commands/[name]-[hash]',
  });
  project.provide('compiled', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
