/** An agent between two pipes in memory: it receives bytes, and its output lines are counted. */
import { Readable, Writable } from 'node:stream';

export interface Pipe {
  readonly input: Readable;
  readonly output: Writable;
  /** Sends the bytes, and resolves after this number of output lines. */
  readonly exchange: (chunks: readonly Uint8Array[], lines: number) => Promise<void>;
}

const LF = 0x0a;

export function createPipe(): Pipe {
  const input = new Readable({ read() {}, highWaterMark: 1 << 24 });
  let missing = 0;
  let resolve: () => void = () => {};
  const output = new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) missing--;
      if (missing === 0) resolve();
      done();
    },
  });
  return {
    input,
    output,
    exchange: (chunks, lines) => {
      missing = lines;
      const all = new Promise<void>((given) => {
        resolve = given;
      });
      for (const chunk of chunks) input.push(chunk);
      return all;
    },
  };
}

/** Splits a text into pieces of 64 KiB, as from an operating system's pipe. */
export function chunksOf(text: string): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += 65_536) chunks.push(bytes.slice(at, at + 65_536));
  return chunks;
}
