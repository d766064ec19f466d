/** A process that is killed during a group commit. */
import process from 'node:process';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { createCodec, createSession } from '../../../src/accp/codec/index.js';
import { sqliteStore } from '../../../src/accp/store/sqlite.js';
import { bundledProgram } from '../../helpers/bundled-program.js';
import { ended, start } from '../../helpers/child.js';
import { freshFiles } from '../../storage/folder.js';
import { GROUP, numberOf } from './group.js';

const program = bundledProgram(new URL('group-child.ts', import.meta.url));
const fresh = freshFiles();

/** Runs the process, and kills it after some lines. Returns the lines. */
async function killedAfter(count: number, file: string): Promise<readonly string[]> {
  const child = start([process.execPath, program(), file], { stdin: '' });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (lines.push(line) === count) child.kill('SIGKILL');
  });
  const { stderr } = await ended(child);
  expect(stderr).toBe('');
  return lines;
}

test('loses no group whose promises were fulfilled, and leaves no part of another one', async () => {
  const file = fresh();
  for (let round = 1; round <= 5; round++) {
    const lines = await killedAfter(1 + Math.floor(Math.random() * 60), file);
    const stored = new Set(lines.at(-1)!.split(' ').map(Number));
    expect(stored.size).toBe(1);
    const store = await sqliteStore(file);
    const codec = createCodec();
    const next = GROUP.map((id) => {
      const session = createSession({ agent: 'a', id, store });
      expect(session.resumed).toBe(true);
      return numberOf(codec.encode({ intent: 'done', operation: 'note' }, session).frames[0]!);
    });
    // The group that was being stored when the process was killed may be there, or not.
    expect(new Set(next).size).toBe(1);
    expect([1, 2]).toContain(next[0]! - [...stored][0]!);
    store.close();
  }
});
