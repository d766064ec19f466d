/** A program in a process of its own, which communicates in lines on its standard output, and ends with its standard input. */
import { spawn } from 'node:child_process';
import process from 'node:process';
import { createInterface } from 'node:readline';

export interface RunningProgram {
  readonly pid: number;
  /** Returns the next line of its output. @throws Error if it has ended, with the end of its stderr */
  readonly line: () => Promise<string>;
  readonly isRunning: () => boolean;
  /** Resolves when it has ended and its output is read. */
  readonly ended: Promise<void>;
  /** Kills it. */
  readonly kill: () => Promise<void>;
}

export function runProgram(file: string, args: readonly string[] = []): RunningProgram {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  const received: string[] = [];
  let wake: (() => void) | undefined;
  let isOver = false;
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-4096);
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    received.push(line);
    wake?.();
  });
  const ended = new Promise<void>((resolve) => {
    const over = (): void => {
      isOver = true;
      wake?.();
      resolve();
    };
    child.on('close', over).on('error', (error) => {
      stderr += error.message;
      over();
    });
  });
  return {
    pid: child.pid ?? -1,
    line: async () => {
      for (;;) {
        const line = received.shift();
        if (line !== undefined) return line;
        if (isOver)
          throw new Error(`The program has ended (${child.exitCode ?? child.signalCode}): ${stderr || 'no word'}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    isRunning: () => !isOver && child.exitCode === null && child.signalCode === null,
    ended,
    kill: () => {
      child.kill('SIGKILL');
      return ended;
    },
  };
}
