// biome-ignore-all lint/correctness/noNodejsModules: processes are of Node
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

/** Plain JavaScript, since Node cannot strip types in a process that may not start threads. */
const PROGRAM = new URL('./child/main.mjs', import.meta.url);

/** Milliseconds that the output may stay open after the exit. */
const HELD_OPEN_MS = 1000;

export interface Sandbox {
  readonly child: ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };
  /** Not Node's own IPC channel, which trusts its peer. */
  readonly pipe: Duplex;
  readonly exited: Promise<void>;
  /** Resolves when the process has ended and its output was read, with the error if no answer came. */
  readonly closed: Promise<{ readonly error: ArcpError }>;
  readonly kill: () => void;
}

export function startSandbox(settings: SandboxSettings, own: string): Sandbox {
  const [command, ...args] = [...settings.wrapper, process.execPath, ...nodeArguments(settings, PROGRAM, own)] as [
    string,
    ...string[],
  ];
  const child = spawn(command, args, {
    cwd: own,
    env: environmentOf(settings.env),
    shell: false,
    detached: HAS_GROUPS,
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  }) as unknown as Sandbox['child'];
  const group = new ProcessGroup(child);
  const pipe = child.stdio[3] as unknown as Duplex;
  // Writing to an ended process fails.
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
      // A process that left the group may hold them open.
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

function endOf(code: number | null, signal: NodeJS.Signals | null): ArcpError {
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  return new ArcpError('INTERNAL', `The process of the sandboxed tool has ended ${how}, without an answer`, {
    details: { exit_code: code, signal },
  });
}

/** Since this version, each flag names one place and may be repeated (Node.js, "Command-line API", `--allow-fs-read`, "History"). */
const OLDEST = [20, 7] as const;
const NAMES = ['--permission', '--experimental-permission'];

export function permissionFlag(): string {
  const { allowedNodeEnvironmentFlags: flags, versions } = process;
  const others = ['bun', 'deno'].filter((name) => versions[name] !== undefined);
  const flag = NAMES.find((name) => flags.has(name));
  const [major = 0, minor = 0] = versions.node.split('.').map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    throw new ArcpError('UNIMPLEMENTED', `Sandboxes take Node ${OLDEST.join('.')} or newer; this is ${versions.node}`);
  if (others.length > 0 || flag === undefined || !flags.has('--allow-fs-read') || !flags.has('--allow-fs-write'))
    throw new ArcpError(
      'UNIMPLEMENTED',
      `Sandboxes take the permission model of Node; ${others[0] ?? `Node ${versions.node}`} has none`,
    );
  return flag;
}

/** Features that the permission model does not cover, and the flags that turn them off. */
const UNHELD = [['--experimental-sqlite', '--no-experimental-sqlite']] as const;

function nodeArguments({ flag, module, read, write, memoryMb }: SandboxSettings, program: URL, own: string): string[] {
  const main = fileURLToPath(program);
  return [
    ...UNHELD.flatMap(([name, without]) => (process.allowedNodeEnvironmentFlags.has(name) ? [without] : [])),
    flag,
    '--no-warnings',
    `--max-old-space-size=${Math.round(memoryMb)}`,
    ...[path.dirname(main), module, own, ...read].map((place) => `--allow-fs-read=${placeOf(place)}`),
    ...[own, ...write].map((place) => `--allow-fs-write=${placeOf(place)}`),
    main,
  ];
}

export function pathOf(place: string | URL): string {
  return path.resolve(typeof place === 'string' && !place.startsWith('file:') ? place : fileURLToPath(place));
}

/** Resolves links, since Node compares names only. The last part may not exist yet. */
function placeOf(of: string | URL): string {
  const named = pathOf(of);
  let place: string;
  try {
    place = realpathSync(named);
  } catch (cause) {
    try {
      place = path.join(realpathSync(path.dirname(named)), path.basename(named));
    } catch {
      throw new ArcpError('FAILED_PRECONDITION', `There is no ${named} that a sandbox could reach`, { cause });
    }
  }
  // Node takes them for several places.
  if (/[*,]/.test(place))
    throw new ArcpError('FAILED_PRECONDITION', `A sandbox cannot be given a place with "*" or ",": ${place}`);
  return place;
}
