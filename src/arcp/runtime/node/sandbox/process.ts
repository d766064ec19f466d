// biome-ignore-all lint/correctness/noNodejsModules: processes need Node
/** The process of a sandboxed tool, restricted by Node (Node.js, "Permissions", "Process-based permissions"). */
import { type ChildProcess, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type { Duplex, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { HAS_GROUPS, ProcessGroup } from '../../../../channels/node/process-group.js';
import { systemReason } from '../../../../text/system-reason.js';
import { ArcpError } from '../../../protocol/errors.js';
import { environmentOf } from '../broker.js';
import type { SandboxSettings } from './types.js';

/** The program is plain JavaScript, since Node cannot strip types in a process that may not start threads. */
const PROGRAM = new URL('./child/main.mjs', import.meta.url);

/** Milliseconds for which the output may stay open after the exit. */
const OUTPUT_GRACE_MS = 1000;

export interface Sandbox {
  readonly child: ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };
  /** The pipe for messages. It is not the IPC channel of Node, which trusts its peer. */
  readonly pipe: Duplex;
  readonly exited: Promise<void>;
  /** Resolves when the process has ended and its output was read, with the error to report unless there was a result. */
  readonly closed: Promise<{ readonly error: ArcpError }>;
  readonly kill: () => void;
}

export function startSandbox(settings: SandboxSettings, folder: string): Sandbox {
  const [command, ...args] = [...settings.wrapper, process.execPath, ...nodeArguments(settings, PROGRAM, folder)] as [
    string,
    ...string[],
  ];
  const child = spawn(command, args, {
    cwd: folder,
    env: environmentOf(settings.env),
    shell: false,
    detached: HAS_GROUPS,
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  }) as unknown as Sandbox['child'];
  const group = new ProcessGroup(child);
  const pipe = child.stdio[3] as unknown as Duplex;
  // Writes to a process that has ended fail.
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
    child,
    pipe,
    closed,
    exited: new Promise((resolve) => child.once('exit', () => resolve())),
    kill: () => {
      group.signal('SIGKILL');
      // A process that has left the group may keep the streams open.
      const timer = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
      }, OUTPUT_GRACE_MS);
      void closed.then(() => {
        clearTimeout(timer);
        group.release();
      });
    },
  };
}

function endOf(code: number | null, signal: NodeJS.Signals | null): ArcpError {
  const how = signal === null ? `with exit code ${code}` : `on ${signal}`;
  return new ArcpError('INTERNAL', `The process of the sandboxed tool ended ${how} without a result`, {
    details: { exit_code: code, signal },
  });
}

/** The first version in which a flag names one path and may be repeated (Node.js, "Command-line API", `--allow-fs-read`, "History"). */
const MIN_VERSION = [20, 7] as const;
const FLAGS = ['--permission', '--experimental-permission'];

export function permissionFlag(): string {
  const { allowedNodeEnvironmentFlags: flags, versions } = process;
  const others = ['bun', 'deno'].filter((name) => versions[name] !== undefined);
  const flag = FLAGS.find((name) => flags.has(name));
  const [major = 0, minor = 0] = versions.node.split('.').map(Number);
  if (major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1]))
    throw new ArcpError(
      'UNIMPLEMENTED',
      `Sandboxes require Node ${MIN_VERSION.join('.')} or later; this is ${versions.node}`,
    );
  if (others.length > 0 || flag === undefined || !flags.has('--allow-fs-read') || !flags.has('--allow-fs-write'))
    throw new ArcpError(
      'UNIMPLEMENTED',
      `Sandboxes require the permission model of Node, which ${others[0] ?? `Node ${versions.node}`} does not have`,
    );
  return flag;
}

/** Features that the permission model does not restrict, and the flags that disable them. */
const UNRESTRICTED = [['--experimental-sqlite', '--no-experimental-sqlite']] as const;

function nodeArguments(
  { flag, module, read, write, memoryMb }: SandboxSettings,
  program: URL,
  folder: string,
): string[] {
  const main = fileURLToPath(program);
  return [
    ...UNRESTRICTED.flatMap(([name, without]) => (process.allowedNodeEnvironmentFlags.has(name) ? [without] : [])),
    flag,
    '--no-warnings',
    `--max-old-space-size=${Math.round(memoryMb)}`,
    ...[path.dirname(main), module, folder, ...read].map((location) => `--allow-fs-read=${realPathOf(location)}`),
    ...[folder, ...write].map((location) => `--allow-fs-write=${realPathOf(location)}`),
    main,
  ];
}

export function pathOf(location: string | URL): string {
  return path.resolve(
    typeof location === 'string' && !location.startsWith('file:') ? location : fileURLToPath(location),
  );
}

/** Resolves links, since Node compares names only. The last part of the path may not exist yet. */
function realPathOf(of: string | URL): string {
  const named = pathOf(of);
  let location: string;
  try {
    location = realpathSync(named);
  } catch (cause) {
    try {
      location = path.join(realpathSync(path.dirname(named)), path.basename(named));
    } catch {
      throw new ArcpError(
        'FAILED_PRECONDITION',
        `The folder of ${named} does not exist; create it or remove the path from read and write`,
        { cause },
      );
    }
  }
  // Node interprets these characters as several paths.
  if (/[*,]/.test(location))
    throw new ArcpError('FAILED_PRECONDITION', `Paths in read and write must not contain "*" or ","; got ${location}`);
  return location;
}
