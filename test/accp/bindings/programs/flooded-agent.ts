/** Floods an agent with requests, and reads answers only on command; its memory is measured from outside. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';

export interface FloodedAgent {
  /** Maximum number of bytes in memory so far; on Linux only. */
  readonly peak: () => number;
  /** Writes a number of requests as fast as the agent reads them; resolves when it has read them. */
  readonly flood: (count: number, bytes: number) => Promise<void>;
  /** Number of bytes that the agent has read. */
  readonly accepted: () => number;
  /** Reads a number of answers. @throws Error if one of them is not the next one */
  readonly read: (count: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Requests per write. */
const AT_ONCE = 64;

export async function floodAgent(program: string): Promise<FloodedAgent> {
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [program]);
  child.stderr.resume();
  const ended = once(child, 'close');
  const write = (lines: string): Promise<void> =>
    new Promise((resolve, reject) => child.stdin.write(lines, (error) => (error ? reject(error) : resolve())));
  const line = (id: number, bytes: number): string =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method: 'echo', params: ['x'.repeat(bytes)] })}\n`;
  let requested = 0;
  let accepted = 0;
  let answered = 0;
  return {
    peak: () => Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) * 1024,
    flood: async (count, bytes) => {
      for (let remaining = count; remaining > 0; remaining -= AT_ONCE) {
        let lines = '';
        for (let n = Math.min(remaining, AT_ONCE); n > 0; n--) lines += line(++requested, bytes);
        await write(lines);
        accepted += lines.length;
      }
    },
    accepted: () => accepted,
    read: async (count) => {
      const end = answered + count;
      const lines = createInterface({ input: child.stdout });
      await new Promise<void>((resolve, reject) => {
        lines.on('line', (text) => {
          const { id } = JSON.parse(text) as { readonly id: number };
          if (id !== ++answered) reject(new Error(`answer ${id} came for ${answered}`));
          if (answered === end) resolve();
        });
        lines.on('close', () => reject(new Error(`the agent ended after ${answered} answers`)));
      });
      lines.close();
      child.stdout.pause();
    },
    close: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
