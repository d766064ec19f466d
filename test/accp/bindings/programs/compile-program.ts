/** Programs for processes of their own and for browsers, in one file each: what is measured is not to be compiled meanwhile. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { sourceAliases } from '../../../helpers/source-aliases.js';

const PACKAGES = fileURLToPath(new URL('../../../../node_modules', import.meta.url));

export interface CompiledProgram {
  readonly file: string;
  readonly remove: () => void;
}

/** Compiles a TypeScript file with what it imports; for Node, packages stay outside. */
export async function compileProgram(source: URL, platform: 'node' | 'browser' = 'node'): Promise<CompiledProgram> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-program-'));
  const outfile = path.join(folder, 'program.mjs');
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    symlinkSync(PACKAGES, path.join(folder, 'node_modules'));
    await build({
      entryPoints: [fileURLToPath(source)],
      ...{ outfile, platform, alias: sourceAliases(), bundle: true, format: 'esm', logLevel: 'error' },
      packages: platform === 'node' ? 'external' : 'bundle',
    });
  } catch (thrown) {
    remove();
    throw thrown;
  }
  return { file: outfile, remove };
}
