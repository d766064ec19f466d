// biome-ignore-all lint/correctness/noNodejsModules: processes are of Node
/** The process of a sandboxed tool. */
import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';
import type { Duplex, Readable } from 'node:stream';
import { HAS_GROUPS, ProcessGroup } from '../../../channels/node/process-group.js';
import { systemReason } from '../../../text/system-reason.js';
import { ArcpError } from '../../protocol/errors.js';
import type { SandboxSettings } from './contract.js';
import { nodeArguments } from './flags.js';

/** JavaScript as it stands, since Node compiles nothing in a process that may start no threads. */
const PROGRAM = new URL('./child/main.mjs', import.meta.url);

/** Milliseconds that what it prints may stay open after its end. */
const HELD_OPEN_MS = 1000;

export interface Sandbox {
  readonly child: ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };
  /** What is said. It is none of Node's own channels, which trust whoever speaks on them. */
  readonly pipe: Duplex;
  readonly exited: Promise<void>;
  /** Resolves when it has ended, and all that it has said and printed was read, with what that is where it was not asked to. */
  readonly closed: Promise<{ readonly error: ArcpError }>;
  readonly kill: () => void;
}

/** @param own its working folder */
export function startSandbox(settings: SandboxSettings, own: string): Sandbox {
  const [command, ...args] = [...settings.wrapper, process.execPath, ...nodeArguments(settings, PROGRAM, own)] as [
    string,
    ...string[],
  ];
  const child = spawn(command, args, {
    ...{ cwd: own, env: environmentOf(settings.env), shell: false, detached: HAS_GROUPS, windowsHide: true },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  }) as unknown as Sandbox['child'];
  const group = new ProcessGroup(child);
  const pipe = child.stdio[3] as unknown as Duplex;
  // A process that has ended reads nothing any more.
  pipe.on('error', () => {});
  const closed = new Promise<{ readonly error: ArcpError }>((resolve) => {
    child.once('error', (cause) => {
      if (child.pid === undefined)
        resolve({
          error: new ArcpError(
            'UNAVAILABLE',
            `${command} could not be started: ${systemReason(cause, 'there is no such program')}`,
            { cause },
          ),
        });
    });
    child.once('close', (code, signal) => resolve({ error: endOf(code, signal) }));
  });
  return {
    ...{ child, pipe, closed },
    exited: new Promise((resolve) => child.once('exit', () => resolve())),
    kill: () => {
      group.signal('SIGKILL');
      // Who has left the group may hold them open for ever.
      const timer = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
      }, HELD_OPEN_MS);
      void closed.then(() => {
        clearTimeout(timer);
        group.release();
      });
    },
  };
}

function environmentOf(names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

function endOf(code: number | null, signal: NodeJS.Signals | null): ArcpError {
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  return new ArcpError('INTERNAL', `The process of the sandboxed tool has ended ${how}, without an answer`, {
    details: { exit_code: code, signal },
  });
}
