import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import process from 'node:process';
import { promisify } from 'node:util';
import { after } from '../../async/timers.js';
import { LineDecoder } from '../../channels/line-decoder.js';
import { HAS_GROUPS, ProcessGroup } from '../../channels/node/process-group.js';
import { visible } from '../../text/visible.js';
import { type Answer, type Failure, type Request, readAnswer, requestLine } from '../differential/target.js';

/** The command's environment. */
export interface CommandOptions {
  /** The working directory. @default the current working directory */
  readonly cwd?: string | undefined;
  /** The environment variables, in place of those of this process. @default those of this process */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface RunLimits {
  /** Milliseconds from when a request is the oldest unanswered one until its answer. */
  readonly timeoutMs: number;
  /** Milliseconds from the start of the program until the first answer. */
  readonly startTimeoutMs: number;
  /** Bytes of resident memory of the whole process group. */
  readonly maxMemoryBytes: number;
  /** Milliseconds between two measurements of the memory. */
  readonly memoryIntervalMs: number;
  readonly maxLineBytes: number;
}

export interface RunHandlers {
  readonly onAnswer: (answer: Answer) => void;
  readonly onDrain: () => void;
  /** Called once, last. The failure is null if the program ended by itself with exit code 0 and no request was unanswered. */
  readonly onEnd: (failure: Failure | null) => void;
}

export interface Run {
  /** Sends a request. @returns false if no more should be sent before `onDrain` */
  readonly send: (request: Request) => boolean;
  readonly endInput: () => void;
  /** Ends the run without further events. Resolves when the program has ended. */
  readonly kill: () => Promise<void>;
  readonly ended: Promise<void>;
  /** The last few lines that were skipped before the first answer. */
  readonly banner: () => readonly string[];
}

/** Bytes of the end of stderr that are reported with a crash. */
const STDERR_TAIL = 2048;
/** Lines of the banner that are kept. */
const BANNER_LINES = 3;
/** Milliseconds that pipes may stay open after the program has ended. A process that left the group may hold them open. */
const PIPE_GRACE_MS = 1000;

/** Starts a program. Failure to start is a crash. @throws TypeError if the command is invalid */
export function startRun(
  command: string,
  options: CommandOptions,
  limits: RunLimits,
  { onAnswer, onDrain, onEnd }: RunHandlers,
): Run {
  const child = startShell(command, options);
  const group = new ProcessGroup(child, { killOnSignal: true });
  // Processes that the shell has left behind hold the pipes open until they end.
  child.once('exit', () => group.kill());
  const banner: string[] = [];
  let stderr = Buffer.alloc(0);
  let pending = 0;
  let answers = 0;
  let isOver = false;
  let cancelTimeout = (): void => {};
  let pipes: NodeJS.Timeout | undefined;

  const fail = (failure: Failure | null): void => {
    if (isOver) return;
    finish();
    onEnd(failure);
  };
  const finish = (): void => {
    isOver = true;
    cancelTimeout();
    clearInterval(memory);
    group.kill();
  };
  const hang = (timeoutMs: number): void => {
    const before = answers;
    // If this process was too busy to read, the answer may be waiting.
    setImmediate(() => {
      if (answers === before) fail({ kind: 'hang', timeoutMs });
    });
  };
  const watchOldest = (): void => {
    cancelTimeout();
    const timeoutMs = answers > 0 ? limits.timeoutMs : limits.startTimeoutMs;
    if (pending > 0) cancelTimeout = after(timeoutMs, () => hang(timeoutMs));
  };
  const memory = setInterval(async () => {
    if (pending === 0) return;
    const taken = child.pid === undefined ? null : await residentMemory(child.pid);
    if (taken !== null && taken > limits.maxMemoryBytes) fail({ kind: 'memory', maxBytes: limits.maxMemoryBytes });
  }, limits.memoryIntervalMs);

  const onLine = (line: string): void => {
    if (isOver) return;
    // Package managers and the like print what they start.
    if (answers === 0 && !line.trimStart().startsWith('{')) {
      banner.push(line);
      if (banner.length > BANNER_LINES) banner.shift();
      return;
    }
    const reading = readAnswer(line);
    if ('problem' in reading) fail({ kind: 'garbage', detail: reading.problem });
    else if (pending === 0) fail({ kind: 'garbage', detail: `an answer without a request: ${visible(line)}` });
    else {
      answers++;
      pending--;
      watchOldest();
      onAnswer(reading.answer);
    }
  };

  const ended = new Promise<void>((resolve) => {
    const end = (ending: string, well = false): void => {
      clearTimeout(pipes);
      const stderrText = stderr.toString('utf8').trim().split(/\r?\n/).map(visible).join('\n');
      const detail = stderrText === '' ? ending : `${ending}; stderr ends: ${stderrText}`;
      fail(well && pending === 0 ? null : { kind: 'crash', detail });
      resolve();
    };
    child.once('error', ({ message }) => {
      if (child.pid === undefined) end(`failed to start: ${message}`);
    });
    child.once('exit', () => {
      pipes = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
      }, PIPE_GRACE_MS);
    });
    child.once('close', (code, signal) => end(endingOf(code, signal), code === 0));
  });
  const lines = new LineDecoder({ maxLineBytes: limits.maxLineBytes });
  const receiver = {
    text: onLine,
    invalid: () => fail({ kind: 'garbage', detail: 'a line that is not UTF-8' }),
    tooLong: (limit: number) => fail({ kind: 'garbage', detail: `a line of more than ${limit} bytes` }),
  };
  child.stdout.on('data', (piece: Buffer) => lines.push(piece, receiver));
  child.stderr.on('data', (piece: Buffer) => {
    stderr = Buffer.concat([stderr, piece.subarray(-STDERR_TAIL)]).subarray(-STDERR_TAIL);
  });
  // A program that ends closes its input while we write. Its end is reported as such.
  child.stdin.on('error', () => {});
  child.stdin.on('drain', () => {
    if (!isOver) onDrain();
  });

  return {
    send: (request) => {
      if (pending++ === 0) watchOldest();
      // Requests of the same tick are written at once.
      if (child.stdin.writableCorked === 0) {
        child.stdin.cork();
        process.nextTick(() => child.stdin.uncork());
      }
      return child.stdin.write(`${requestLine(request)}\n`);
    },
    endInput: () => child.stdin.end(),
    kill: () => {
      finish();
      return ended;
    },
    ended,
    banner: () => banner,
  };
}

function startShell(command: string, { cwd, env }: CommandOptions): ChildProcessWithoutNullStreams {
  return spawn(command, {
    shell: true,
    detached: HAS_GROUPS,
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env: { ...env } }),
  });
}

function endingOf(code: number | null, signal: NodeJS.Signals | null): string {
  if (code === null) return `killed by ${signal}`;
  // A shell reports the signal that ended its command in this way.
  const name = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  return name === undefined ? `exit code ${code}` : `exit code ${code} (${name})`;
}

const run = promisify(execFile);

/** The resident set of a process group in bytes, from `/proc` or `ps`; null if neither is available. */
async function residentMemory(group: number): Promise<number | null> {
  if (process.platform === 'win32') return null;
  try {
    return process.platform === 'linux' ? await fromProc(group) : await fromPs(group);
  } catch {
    return null;
  }
}

async function fromProc(group: number): Promise<number> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const sizes = await Promise.all(ids.map((id) => sizeInGroup(id, group)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function sizeInGroup(id: string, group: number): Promise<number> {
  try {
    // The format is "pid (name) state ppid pgrp ...". The name may contain anything, parentheses included.
    const stat = await readFile(`/proc/${id}/stat`, 'latin1');
    const [, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(pgrp) !== group) return 0;
    // In kB, independent of the page size.
    const status = await readFile(`/proc/${id}/status`, 'latin1');
    return Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    // The process has ended in the meantime.
    return 0;
  }
}

async function fromPs(group: number): Promise<number> {
  const { stdout } = await run('ps', ['-A', '-o', 'pgid=', '-o', 'rss=']);
  const rows = stdout.split('\n').map((row) => row.trim().split(/\s+/));
  return rows.reduce((sum, [pgid, kilobytes]) => sum + (Number(pgid) === group ? Number(kilobytes) * 1024 : 0), 0);
}
