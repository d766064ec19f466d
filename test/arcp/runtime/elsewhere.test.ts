import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { sqliteStore } from '../../../src/arcp/runtime/index.js';
import { describeElsewhere } from './elsewhere.js';

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-elsewhere-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

describeElsewhere('on one SQLite file', async () => {
  const file = path.join(folder, `${++files}.db`);
  return () => sqliteStore(file);
});
