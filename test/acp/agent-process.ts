/** Agents as black boxes: bytes in, bytes out. */
import { spawn } from 'node:child_process';

export interface RunResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

/** Runs a program: writes chunks to its stdin one after the other, closes it, and waits for the exit. */
export function runAgent(program: string, chunks: readonly Uint8Array[]): Promise<RunResult> {
  const child = spawn(process.execPath, [program], { stdio: 'pipe' });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  const ended = new Promise<RunResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ stdout: text(stdout), stderr: text(stderr), code }));
  });
  // An agent that has exited does not read the rest; its output counts.
  child.stdin.on('error', () => {});
  const write = async (): Promise<void> => {
    for (const chunk of chunks) await new Promise((resolve) => child.stdin.write(chunk, resolve));
    child.stdin.end();
  };
  return write().then(() => ended);
}

/** Decodes output, which must be UTF-8. */
function text(chunks: readonly Buffer[]): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
}

export const encode = (input: string): Uint8Array => new TextEncoder().encode(input);

/** Parses the lines of stdout, each of which must be terminated. */
export function linesOf({ stdout }: RunResult): unknown[] {
  if (stdout === '') return [];
  if (!stdout.endsWith('\n')) throw new Error(`The last line is not terminated: ${JSON.stringify(stdout.slice(-80))}`);
  return stdout
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
}
