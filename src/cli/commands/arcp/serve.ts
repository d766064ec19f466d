/** The work of `pegwire arcp serve`. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { TRUST_LEVELS } from '../../../arcp/index.js';
import {
  anonymous,
  createRuntime,
  fifoPair,
  listenFifo,
  listenUnix,
  listenWebSocket,
  memoryStore,
  type Runtime,
  ServeError,
  StoreError,
  serveStdio,
  sqliteStore,
} from '../../../arcp/runtime/index.js';
import { systemReason } from '../../../text/system-reason.js';
import { unreadable } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import { choice, type Invocation, UsageError } from '../../options/command.js';
import { countOption, secondsOption, textOption } from '../../options/option.js';
import { givenToken } from '../../options/server.js';
import { addTryTools } from './try-tools.js';

/** A way in, and how it is closed. */
interface Door {
  /** What one connects to. */
  readonly name: string;
  readonly close: () => Promise<void>;
}

/** @returns the exit code, when it has ended: 0 */
export async function runServe(invocation: Invocation): Promise<number> {
  const { options, output, json } = invocation;
  const note = (text: string): void => void output.note(text);
  const runtime = await makeRuntime(invocation, (error) =>
    note(`${output.paintNote('yellow', 'warning:')} ${systemReason(error)}`),
  );
  const doors: Door[] = [];
  try {
    await openDoors(invocation, runtime, doors);
    runtime.start();
    const names = doors.map(({ name }) => name);
    // On stdout, there is nothing but messages then.
    if (options['stdio'] === true) for (const name of names) note(name);
    else await output.result(json ? toJson({ listening: names }) : names.join('\n'));
    await ended(invocation, runtime);
  } finally {
    await Promise.all(doors.map(({ close }) => close()));
    await runtime.close();
  }
  return 0;
}

async function makeRuntime(invocation: Invocation, onError: (error: unknown) => void): Promise<Runtime> {
  const file = textOption(invocation, 'db');
  const trust = choice(invocation, 'trust', TRUST_LEVELS, 'constrained');
  const module = textOption(invocation, 'module');
  let store = memoryStore();
  try {
    if (file !== undefined) store = await sqliteStore(file);
  } catch (thrown) {
    if (thrown instanceof StoreError) throw new UsageError(thrown.message, 'unreadable');
    throw thrown;
  }
  const lease = secondsOption(invocation, 'lease');
  if (lease === 0) throw new UsageError('--lease is a number of seconds above 0');
  const workers = lease === undefined ? {} : { leaseMs: lease * 1000 };
  const runtime = createRuntime({ store, auth: anonymous({ trust }), workers, onError });
  if (module === undefined) return addTryTools(runtime);
  await furnish(runtime, module);
  return runtime;
}

/** Gives the runtime to a module. What goes wrong in there is its author's to mend. */
async function furnish(runtime: Runtime, module: string): Promise<void> {
  try {
    readFileSync(module);
  } catch (thrown) {
    await runtime.close();
    throw unreadable(thrown, module);
  }
  try {
    const loaded = (await import(pathToFileURL(path.resolve(module)).href)) as { readonly default?: unknown };
    if (typeof loaded.default !== 'function') throw new Error('it has no function as its default export');
    await loaded.default(runtime);
  } catch (thrown) {
    await runtime.close();
    throw new UsageError(`${module}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, 'unreadable');
  }
}

async function openDoors(invocation: Invocation, runtime: Runtime, doors: Door[]): Promise<void> {
  const { options, repeated } = invocation;
  const [socket, fifo] = [textOption(invocation, 'socket'), textOption(invocation, 'fifo')];
  const isAlone =
    options['ws'] === undefined && socket === undefined && fifo === undefined && options['stdio'] !== true;
  try {
    if (options['ws'] !== undefined || isAlone) {
      const port = options['ws'] === true ? undefined : countOption(invocation, 'ws', { from: 0, to: 65_535 });
      const { url, close } = await listenWebSocket(runtime, {
        ...{ port, host: textOption(invocation, 'host'), token: givenToken(invocation) },
        ...{ insecure: options['insecure'] === true, origins: repeated['origin'] },
      });
      doors.push({ name: url, close });
    }
    if (socket !== undefined) {
      const { close } = await listenUnix(runtime, socket);
      doors.push({ name: `unix:${socket}`, close });
    }
    if (fifo !== undefined) {
      const { close } = await listenFifo(runtime, fifoPair(fifo));
      doors.push({ name: `fifo:${fifo}`, close });
    }
  } catch (thrown) {
    if (thrown instanceof ServeError && thrown.code === 'no-token')
      throw new UsageError(`${thrown.message}: give it --token (or PEGWIRE_TOKEN in the environment), or --insecure`);
    if (thrown instanceof TypeError) throw new UsageError(thrown.message);
    if (thrown instanceof UsageError) throw thrown;
    throw new UsageError((thrown as Error).message, 'address');
  }
}

/** Resolves when a signal, or the end of who has started it, has ended it, and the work with it. */
async function ended(invocation: Invocation, runtime: Runtime): Promise<void> {
  let end: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    end = resolve;
  });
  process.on('SIGINT', end).on('SIGTERM', end);
  if (invocation.options['stdio'] === true) void serveStdio(runtime).then(end);
  await asked;
  process.off('SIGINT', end).off('SIGTERM', end);
  const atOnce = (): never => process.exit(130);
  process.on('SIGINT', atOnce).on('SIGTERM', atOnce);
  await runtime.drain((secondsOption(invocation, 'grace') ?? 10) * 1000);
  process.off('SIGINT', atOnce).off('SIGTERM', atOnce);
}
