/** An agent seen from outside: bytes in, bytes out. */
import { spawn } from 'node:child_process';

export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

/** Starts the program, writes the pieces to its standard input one after the other, closes it, and waits for the end. */
export function runAgent(program: string, pieces: readonly Uint8Array[]): Promise<Ran> {
  const child = spawn(process.execPath, [program], { stdio: 'pipe' });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  const ended = new Promise<Ran>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ stdout: text(stdout), stderr: text(stderr), code }));
  });
  // An agent that has ended takes nothing more: what it said counts.
  child.stdin.on('error', () => {});
  const write = async (): Promise<void> => {
    for (const piece of pieces) await new Promise((resolve) => child.stdin.write(piece, resolve));
    child.stdin.end();
  };
  return write().then(() => ended);
}

/** Of stdout nothing but UTF-8 is right, so that a broken character must not go unseen. */
function text(chunks: readonly Buffer[]): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
}

export const encode = (input: string): Uint8Array => new TextEncoder().encode(input);

/** Lines of output; each has to end. */
export function linesOf({ stdout }: Ran): unknown[] {
  if (stdout === '') return [];
  if (!stdout.endsWith('\n')) throw new Error(`The last line has no end: ${JSON.stringify(stdout.slice(-80))}`);
  return stdout
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
}
