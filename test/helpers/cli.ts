/** The command line under test, in this process on streams in memory, or in a child process on real pipes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { Readable, Writable } from 'node:stream';
import { afterAll, inject } from 'vitest';
import { run } from '../../src/cli/run.js';
import { type Ended, ended, type Start, start } from './child.js';

/** A stream that collects its output. */
export class Screen extends Writable {
  readonly isTTY: boolean;
  readonly #chunks: Buffer[] = [];

  constructor({ isTTY = false }: { isTTY?: boolean } = {}) {
    super();
    this.isTTY = isTTY;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

export interface Surroundings {
  readonly stdin?: string | Uint8Array | Readable;
  /** If true, stdout and stderr are a terminal. */
  readonly isTTY?: boolean;
}

/** Runs a command line in this process. */
export async function cli(args: readonly string[], { stdin = '', isTTY = false }: Surroundings = {}): Promise<Ended> {
  const stdout = new Screen({ isTTY });
  const stderr = new Screen({ isTTY });
  const input = stdin instanceof Readable ? stdin : inPieces(Buffer.from(stdin), 65_536);
  const code = await run(args, { stdin: input, stdout, stderr });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** Returns a stream of bytes in chunks of the given size. */
export function inPieces(bytes: Uint8Array, size: number): Readable {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return Readable.from(pieces);
}

/** Returns the path of the compiled version of a source file. */
export const compiled = (source: string): string => path.join(inject('compiled'), source.replace(/\.ts$/, '.js'));

/** The command that starts the command line in a child process. */
export const PROGRAM: readonly string[] = [process.execPath, compiled('src/cli/main.ts')];

/** Runs the command line in a child process, by default with an empty stdin. */
export function program(args: readonly string[], options: Start = {}): Promise<Ended> {
  return ended(start([...PROGRAM, ...args], { stdin: '', ...options }));
}

/** Creates a temporary folder for the files of a test module, removed after its tests. */
export function scratchFolder(): { readonly path: string; write(name: string, content: string | Uint8Array): string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-cli-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    path: folder,
    write(name, content) {
      const file = path.join(folder, name);
      writeFileSync(file, content);
      return file;
    },
  };
}

/** Parses lines of JSON. */
export function jsonLines(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}

/** Joins texts, each with a line end. */
export function lines(...texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}
