/** Measurements that require a fresh process. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** Runs a file of this folder and parses its output as JSON. */
export function child<T>(file: string, args: readonly string[], flags: readonly string[] = []): T {
  const script = path.join(path.dirname(fileURLToPath(import.meta.url)), file);
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, script, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} failed:\n${stderr}`);
  return JSON.parse(stdout) as T;
}
