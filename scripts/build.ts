/**
 * Compiles the package into dist/: the sources with their types, and copies of generated/, which TypeScript does not emit.
 *
 *     npm run build
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const dist = path.join(root, 'dist');
const compiler = path.join(root, 'node_modules/@typescript/native/bin/tsc');

rmSync(dist, { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [compiler, '-p', path.join(root, 'tsconfig.build.json')], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

mkdirSync(path.join(dist, 'generated'), { recursive: true });
for (const file of readdirSync(path.join(root, 'generated'))) {
  if (/\.(js|d\.ts)$/.test(file)) copyFileSync(path.join(root, 'generated', file), path.join(dist, 'generated', file));
}
chmodSync(path.join(dist, 'src/cli/main.js'), 0o755);
