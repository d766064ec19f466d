/**
 * Compiles the measured code and starts it in plain Node. Under tsx every function would carry its name (`keepNames`),
 * which slows generated parsers down several times; a bundle would turn module constants into variables, which the
 * optimizer trusts less. So the sources are compiled file by file, as `npm run build` does, into a temporary folder.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { build } from 'esbuild';
import { projectRoot } from './root.js';

/** The folders to compile. */
const SOURCES = ['src', 'bench', 'grammar', 'test/oracle'];

/**
 * Runs a program of this folder on the current sources.
 *
 * @param program its path below bench/, ending in `.js`
 * @returns its exit code
 */
export async function launch(program: string, args: readonly string[]): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-bench-'));
  try {
    await compile(folder);
    const env = { ...process.env, PEGWIRE_ROOT: projectRoot() };
    const file = path.join(folder, 'bench', program);
    const { status } = spawnSync(process.execPath, ['--expose-gc', file, ...args], { stdio: 'inherit', env });
    return status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compile(folder: string): Promise<void> {
  const root = projectRoot();
  const files = SOURCES.flatMap((source) =>
    readdirSync(path.join(root, source), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.ts$/.test(file) && !/\.(?:d|test)\.ts$/.test(file))
      .map((file) => path.join(root, source, file)),
  );
  await build({
    entryPoints: files,
    outbase: root,
    outdir: folder,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
  });
  for (const part of ['generated', 'grammar']) {
    cpSync(path.join(root, part), path.join(folder, part), {
      recursive: true,
      filter: (file) => !file.endsWith('.ts'),
    });
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
}
