/** A temporary folder for the files of a test module, removed after its tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

/** Returns a function that returns a new path each time. */
export function freshFiles(): (name?: string) => string {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-storage-'));
  let count = 0;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (name = 'file') => path.join(folder, `${name}-${++count}.db`);
}
