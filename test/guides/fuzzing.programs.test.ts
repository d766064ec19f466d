/** The report that the guide to `pegwire fuzz` shows. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { cli } from '../helpers/cli.js';

const GUIDE = 'test/examples/test-your-parser';
const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-fuzzing-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('is the first finding that the command prints', async () => {
  const [, shown] = /^```text\n(1\. [\s\S]*?\n\n)/m.exec(readFileSync(`${GUIDE}/README.md`, 'utf8'))!;
  const program = path.join(folder, 'main.mjs');
  copyFileSync(`${GUIDE}/main.mjs`, program);
  const output = path.join(folder, 'pegwire-findings');
  const target = `node ${program}`;
  const { code, stdout } = await cli([
    'fuzz',
    'aacp',
    '--target',
    target,
    '--count',
    '1000',
    '--seed',
    '1',
    '--output',
    output,
  ]);
  expect(code).toBe(1);
  expect(stdout.replaceAll(program, 'main.mjs').replaceAll(`${folder}${path.sep}`, '')).toContain(shown);
});
