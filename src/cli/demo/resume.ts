/** Another process that goes on with a session: the command line itself. */
import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { MessageInput } from '../../accp/message/message.js';
import { ENCODING } from './token-tally.js';

export interface ElsewhereOptions {
  readonly file: string;
  readonly session: string;
  readonly agent: string;
  readonly now: number;
}

/** The program, where this process runs it: not where a host has loaded the command line as a library. */
function programFile(): string | null {
  const self = fileURLToPath(import.meta.url);
  const main = path.join(path.dirname(self), `../main${path.extname(self)}`);
  const [, started] = process.argv;
  try {
    return started !== undefined && realpathSync(started) === realpathSync(main) ? main : null;
  } catch {
    return null;
  }
}

/**
 * Encodes a message in a process of its own, which knows the session from its file only.
 *
 * @returns the frames, or `null` where there is no program to be started
 */
export function encodeElsewhere(message: MessageInput, options: ElsewhereOptions): readonly string[] | null {
  const main = programFile();
  if (main === null) return null;
  const { file, session, agent, now } = options;
  const args = ['encode', 'accp', '--session', file, '--id', session, '--agent', agent, '--sequence', 'sender'];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...process.execArgv, main, ...args, '--now', String(now), '--encoding', ENCODING],
    { input: JSON.stringify(message), encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`The other process failed: ${stderr}`);
  return stdout.split('\n').filter((line) => line !== '');
}
