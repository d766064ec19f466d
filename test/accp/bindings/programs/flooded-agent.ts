/** Floods an agent with requests and reads no answer, until told to; what it holds meanwhile is looked at from outside. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';

export interface FloodedAgent {
  /** Bytes in memory, at most so far; of Linux alone. */
  readonly peak: () => number;
  /** Writes so many requests of so many bytes, as fast as they are taken; resolves when the agent has taken them. */
  readonly flood: (count: number, bytes: number) => Promise<void>;
  /** Bytes that the agent has taken so far. */
  readonly taken: () => number;
  /** Reads so many answers. @throws Error where one of them is not the next one */
  readonly read: (count: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Requests of one write. */
const AT_ONCE = 64;

export async function floodAgent(program: string): Promise<FloodedAgent> {
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [program]);
  child.stderr.resume();
  const ended = once(child, 'close');
  const write = (lines: string): Promise<void> =>
    new Promise((resolve, reject) => child.stdin.write(lines, (error) => (error ? reject(error) : resolve())));
  const line = (id: number, bytes: number): string =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method: 'echo', params: ['x'.repeat(bytes)] })}\n`;
  let asked = 0;
  let taken = 0;
  let answered = 0;
  return {
    peak: () => Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) * 1024,
    flood: async (count, bytes) => {
      for (let left = count; left > 0; left -= AT_ONCE) {
        let lines = '';
        for (let n = Math.min(left, AT_ONCE); n > 0; n--) lines += line(++asked, bytes);
        await write(lines);
        taken += lines.length;
      }
    },
    taken: () => taken,
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
