/** Programs in processes of their own, on real pipes. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import process from 'node:process';
import type { Readable } from 'node:stream';

/** How a program ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The environment, without what a test runner or a user has to say about colour. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { NO_COLOR: _, FORCE_COLOR: __, NODE_DISABLE_COLORS: ___, ...rest } = process.env;
  return rest;
}

export interface Start {
  /** `undefined` leaves stdin open. */
  readonly stdin?: string | Uint8Array | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Starts a program, given with its arguments, on pipes. */
export function start([command, ...args]: readonly string[], options: Start = {}): ChildProcessWithoutNullStreams {
  const child = spawn(command!, args, { cwd: options.cwd, env: { ...plainEnvironment(), ...options.env } });
  // A program that ends before it has read everything closes its end.
  child.stdin.on('error', () => {});
  if (options.stdin !== undefined) child.stdin.end(options.stdin);
  return child;
}

/** Waits for the end of a program that was started. */
export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const [code, stdout, stderr] = await Promise.all([
    new Promise<number>((resolve) => child.on('close', (status) => resolve(status ?? -1))),
    everything(child.stdout),
    everything(child.stderr),
  ]);
  return { code, stdout, stderr };
}

async function everything(stream: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  // Not `for await`: a test may close the stream on purpose.
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  await new Promise((resolve) => stream.on('close', resolve));
  return Buffer.concat(pieces).toString();
}
