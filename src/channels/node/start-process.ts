/** Child processes whose three streams are pipes. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { systemReason } from '../../text/system-reason.js';
import { ConnectionError } from '../errors.js';
import { HAS_GROUPS } from './process-group.js';

export type PipedProcess = ChildProcessByStdio<Writable, Readable, Readable>;

export interface StartOptions {
  readonly cwd: string | URL | undefined;
  readonly env: NodeJS.ProcessEnv | undefined;
}

/**
 * Starts a program without a shell, as the leader of a group of its own.
 *
 * @throws ConnectionError `spawn-failed`
 */
export async function startProcess(
  command: string,
  args: readonly string[],
  { cwd, env }: StartOptions,
): Promise<PipedProcess> {
  const failed = (cause: unknown): ConnectionError => {
    const where = cwd === undefined ? '' : ` in ${cwd}`;
    const why = systemReason(
      cause,
      cwd === undefined ? 'there is no such program' : 'there is no such program or folder',
    );
    return new ConnectionError('spawn-failed', `${command} could not be started${where}: ${why}`, { cause });
  };
  let child: PipedProcess;
  try {
    child = spawn(command, args, {
      ...{ stdio: ['pipe', 'pipe', 'pipe'], shell: false, detached: HAS_GROUPS, windowsHide: true },
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
    });
  } catch (cause) {
    throw failed(cause);
  }
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.on('error', (cause) => reject(failed(cause)));
  });
  return child;
}
