/** A folder for the files of one test module, removed after its tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

/** Returns the path of a new file with each call. */
export function freshFiles(): () => string {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-audit-'));
  let made = 0;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => path.join(folder, `audit-${++made}.jsonl`);
}
