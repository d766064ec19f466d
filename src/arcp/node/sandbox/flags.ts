// biome-ignore-all lint/correctness/noNodejsModules: processes are of Node
/** What Node is started with, so that it keeps a program in bounds (Node.js, "Permissions", "Process-based permissions"). */
import { realpathSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { ArcpError } from '../../protocol/errors.js';
import type { SandboxSettings } from './contract.js';

/** Since then, each flag names one place, and may be repeated (Node.js, "Command-line API", `--allow-fs-read`, "History"). */
const OLDEST = [20, 7] as const;
/** What the permission model is called, by newer and by older Nodes. */
const NAMES = ['--permission', '--experimental-permission'];

/** @throws ArcpError `UNIMPLEMENTED` */
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

/** Parts of Node on which its permission model has no hold, and how they are left out. */
const UNHELD = [['--experimental-sqlite', '--no-experimental-sqlite']] as const;

/** @param own a folder that is all the tool's */
export function nodeArguments(
  { flag, module, read, write, memoryMb }: SandboxSettings,
  program: URL,
  own: string,
): string[] {
  const main = fileURLToPath(program);
  return [
    ...UNHELD.flatMap(([name, without]) => (process.allowedNodeEnvironmentFlags.has(name) ? [without] : [])),
    ...[flag, '--no-warnings', `--max-old-space-size=${Math.round(memoryMb)}`],
    ...[path.dirname(main), module, own, ...read].map((place) => `--allow-fs-read=${placeOf(place)}`),
    ...[own, ...write].map((place) => `--allow-fs-write=${placeOf(place)}`),
    main,
  ];
}

export function pathOf(place: string | URL): string {
  return path.resolve(typeof place === 'string' && !place.startsWith('file:') ? place : fileURLToPath(place));
}

/** Where something is, with all links on the way followed: Node looks at names alone. What is not there yet may be made. */
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
  // To Node, they mean more than one place.
  if (/[*,]/.test(place))
    throw new ArcpError('FAILED_PRECONDITION', `A sandbox cannot be given a place with "*" or ",": ${place}`);
  return place;
}
