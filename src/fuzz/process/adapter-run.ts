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

export interface CommandOptions {
  /** @default the current folder */
  readonly cwd?: string | undefined;
  /** Instead of the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface RunLimits {
  /** Milliseconds from when a request is the oldest unanswered one to its answer. */
  readonly timeLimitMs: number;
  /** Milliseconds from the start to the first answer. */
  readonly startLimitMs: number;
  /** Bytes, of the whole process group. */
  readonly memoryLimitBytes: number;
  /** Milliseconds between two looks at the memory. */
  readonly memoryIntervalMs: number;
  readonly lineLimitBytes: number;
}

export interface RunHandlers {
  readonly onAnswer: (answer: Answer) => void;
  readonly onDrain: () => void;
  /** Called once, last. `null`: the program ended by itself with exit code 0 and nothing left to answer. */
  readonly onEnd: (failure: Failure | null) => void;
}

export interface Run {
  /** Sends a request. @returns false when no more should be sent before `onDrain` */
  readonly send: (request: Request) => boolean;
  readonly endInput: () => void;
  /** Ends the run without another word. Once it resolves, the program is gone. */
  readonly kill: () => Promise<void>;
  readonly ended: Promise<void>;
  /** The lines before the first answer that were passed over, the last few of them. */
  readonly banner: () => readonly string[];
}

/** Bytes of the end of stderr that are told with a crash. */
const STDERR_TAIL = 2048;
/** Lines of a banner that are kept. */
const BANNER_LINES = 3;
/** Milliseconds that pipes may stay open once the program has ended: a process that left the group may hold them. */
const PIPE_GRACE = 1000;

/** Starts a program; one that cannot be started is a crash. @throws TypeError on an impossible command */
export function startRun(
  command: string,
  options: CommandOptions,
  limits: RunLimits,
  { onAnswer, onDrain, onEnd }: RunHandlers,
): Run {
  const child = startShell(command, options);
  const group = new ProcessGroup(child, { killOnSignal: true });
  // What the shell has left behind goes with it; the pipes close only then.
  child.once('exit', () => group.kill());
  const banner: string[] = [];
  let stderr = Buffer.alloc(0);
  let pending = 0;
  let answers = 0;
  let over = false;
  let cancelTimeLimit = (): void => {};
  let pipes: NodeJS.Timeout | undefined;

  const fail = (failure: Failure | null): void => {
    if (over) return;
    finish();
    onEnd(failure);
  };
  const finish = (): void => {
    over = true;
    cancelTimeLimit();
    clearInterval(memory);
    group.kill();
  };
  const hang = (limitMs: number): void => {
    const before = answers;
    // If it was this process that had no time, the answer may be waiting to be read.
    setImmediate(() => {
      if (answers === before) fail({ kind: 'hang', limitMs });
    });
  };
  const watchOldest = (): void => {
    cancelTimeLimit();
    const limitMs = answers > 0 ? limits.timeLimitMs : limits.startLimitMs;
    if (pending > 0) cancelTimeLimit = after(limitMs, () => hang(limitMs));
  };
  const memory = setInterval(async () => {
    if (pending === 0) return;
    const taken = child.pid === undefined ? null : await residentMemory(child.pid);
    if (taken !== null && taken > limits.memoryLimitBytes)
      fail({ kind: 'memory', limitBytes: limits.memoryLimitBytes });
  }, limits.memoryIntervalMs);

  const onLine = (line: string): void => {
    if (over) return;
    // Package managers and the like say what they start.
    if (answers === 0 && !line.trimStart().startsWith('{')) {
      banner.push(line);
      if (banner.length > BANNER_LINES) banner.shift();
      return;
    }
    const reading = readAnswer(line);
    if ('problem' in reading) fail({ kind: 'garbage', detail: reading.problem });
    else if (pending === 0) fail({ kind: 'garbage', detail: `an answer that nothing had asked for: ${visible(line)}` });
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
      const told = stderr.toString('utf8').trim().split(/\r?\n/).map(visible).join('\n');
      const detail = told === '' ? ending : `${ending}; stderr ends: ${told}`;
      fail(well && pending === 0 ? null : { kind: 'crash', detail });
      resolve();
    };
    child.once('error', ({ message }) => {
      if (child.pid === undefined) end(`it cannot be started: ${message}`);
    });
    child.once('exit', () => {
      pipes = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
      }, PIPE_GRACE);
    });
    child.once('close', (code, signal) => end(endingOf(code, signal), code === 0));
  });
  const lines = new LineDecoder({ maxLineBytes: limits.lineLimitBytes });
  const receiver = {
    text: onLine,
    invalid: () => fail({ kind: 'garbage', detail: 'a line that is not UTF-8' }),
    tooLong: (limit: number) => fail({ kind: 'garbage', detail: `a line of more than ${limit} bytes` }),
  };
  child.stdout.on('data', (piece: Buffer) => lines.push(piece, receiver));
  child.stderr.on('data', (piece: Buffer) => {
    stderr = Buffer.concat([stderr, piece.subarray(-STDERR_TAIL)]).subarray(-STDERR_TAIL);
  });
  // A program that ends closes its input while we write; that it has ended is told by itself.
  child.stdin.on('error', () => {});
  child.stdin.on('drain', () => {
    if (!over) onDrain();
  });

  return {
    send: (request) => {
      if (pending++ === 0) watchOldest();
      // What is sent in one go is written in one.
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
  // A shell tells the signal that its command died of so.
  const name = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  return name === undefined ? `exit code ${code}` : `exit code ${code} (${name})`;
}

const run = promisify(execFile);

/** The resident set of a process group in bytes, from `/proc` or `ps`; `null` if neither can tell. */
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
    // pid (name) state ppid pgrp ...; the name may hold anything, parentheses too.
    const stat = await readFile(`/proc/${id}/stat`, 'latin1');
    const [, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(pgrp) !== group) return 0;
    // In kB, whatever the size of a page.
    const status = await readFile(`/proc/${id}/status`, 'latin1');
    return Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}

async function fromPs(group: number): Promise<number> {
  const { stdout } = await run('ps', ['-A', '-o', 'pgid=', '-o', 'rss=']);
  const rows = stdout.split('\n').map((row) => row.trim().split(/\s+/));
  return rows.reduce((sum, [pgid, kilobytes]) => sum + (Number(pgid) === group ? Number(kilobytes) * 1024 : 0), 0);
}
