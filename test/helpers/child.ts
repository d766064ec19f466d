/** Child processes on real pipes. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import process from 'node:process';
import type { Readable } from 'node:stream';

/** The exit code and output of a program. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Returns the environment without variables about colour. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { NO_COLOR: _, FORCE_COLOR: __, NODE_DISABLE_COLORS: ___, ...rest } = process.env;
  return rest;
}

export interface Start {
  /** The input; `undefined` leaves stdin open. */
  readonly stdin?: string | Uint8Array | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Starts a program, given with its arguments. */
export function start([command, ...args]: readonly string[], options: Start = {}): ChildProcessWithoutNullStreams {
  const child = spawn(command!, args, { cwd: options.cwd, env: { ...plainEnvironment(), ...options.env } });
  // A program that exits before it has read everything breaks the pipe.
  child.stdin.on('error', () => {});
  if (options.stdin !== undefined) child.stdin.end(options.stdin);
  return child;
}

/** Waits for the exit of a program. */
export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const [code, stdout, stderr] = await Promise.all([
    new Promise<number>((resolve) => child.on('close', (status) => resolve(status ?? -1))),
    textOf(child.stdout),
    textOf(child.stderr),
  ]);
  return { code, stdout, stderr };
}

async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  // Without `for await`, since a test may close the stream.
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => stream.on('close', resolve));
  return Buffer.concat(chunks).toString();
}
