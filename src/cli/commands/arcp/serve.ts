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
  serveStdio,
  sqliteStore,
} from '../../../arcp/runtime/index.js';
import { systemReason } from '../../../text/system-reason.js';
import { storeFault, UsageError, unreadable } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import { endBySignal } from '../../io/signals.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { choice, duration, flag, integer, optional, text, texts, token, value } from '../../options/option.js';
import { notStarted, SERVER_OPTIONS } from '../../options/shared.js';
import { addTryTools } from './try-tools.js';

const OPTIONS = {
  ws: optional('PORT', 'by WebSocket (7777); 0 for one that is free', integer({ from: 0, to: 65_535 })),
  socket: text('PATH', 'by a Unix-domain socket, which only its owner reaches'),
  fifo: text('NAME', 'by two named pipes, NAME.in and NAME.out'),
  stdio: flag('on the standard streams, for whoever starts it'),
  db: text('FILE', 'where jobs, messages and sessions are kept; without it, in memory'),
  module: text('FILE', 'a module whose default export is given the runtime, to add tools to it'),
  host: SERVER_OPTIONS.host,
  origin: texts('ORIGIN', 'a web page that may connect; may be given more than once'),
  token: token('what who connects by WebSocket has to show'),
  insecure: SERVER_OPTIONS.insecure,
  trust: choice(
    'LEVEL',
    'of clients: untrusted, constrained (default), trusted, privileged',
    TRUST_LEVELS,
    () => 'constrained',
  ),
  lease: value(
    'DURATION',
    'Restart the work of another runtime that has not renewed its lease for this long (default: 15s).',
    duration({ isPositive: true }),
  ),
  grace: value('DURATION', 'On shutdown, wait this long for running work (default: 10s).', duration()),
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: 'nothing',
  options: OPTIONS,
  details: [
    'Without --ws, --socket, --fifo and --stdio, it is --ws. Its addresses go to stdout (with --stdio, to stderr). SIGINT and ' +
      'SIGTERM end it: nothing new is begun, and what has not ended in time goes on after the next start, where there is a --db. A ' +
      'second one ends it at once.',
    'Its tools are echo, add, count (a job with progress, a stream and checkpoints) and refund (a job that asks for a permission), the ' +
      'agent writer and the workflow tour; with --module, there are those of the module alone.',
  ],
  example: 'pegwire arcp serve --ws 7777 --db arcp.db',
  run,
});

interface Listening {
  readonly name: string;
  readonly close: () => Promise<void>;
}

async function run(invocation: Run): Promise<number> {
  const { options, output, json } = invocation;
  const note = (text: string): void => void output.note(text);
  const runtime = await makeRuntime(invocation, (error) =>
    note(`${output.paintNote('yellow', 'warning:')} ${systemReason(error)}`),
  );
  const listening: Listening[] = [];
  try {
    await listen(invocation, runtime, listening);
    runtime.start();
    const names = listening.map(({ name }) => name);
    // Stdout carries only messages then.
    if (options.stdio) for (const name of names) note(name);
    else await output.result(json ? toJson({ listening: names }) : names.join('\n'));
    const drain = (): Promise<void> => runtime.drain(options.grace ?? 10_000);
    await endBySignal(drain, () => process.exit(130), options.stdio ? serveStdio(runtime) : undefined);
  } finally {
    await Promise.all(listening.map(({ close }) => close()));
    await runtime.close();
  }
  return 0;
}

async function makeRuntime(invocation: Run, onError: (error: unknown) => void): Promise<Runtime> {
  const { db: file, trust, module, lease } = invocation.options;
  let store = memoryStore();
  try {
    if (file !== undefined) store = await sqliteStore(file);
  } catch (thrown) {
    throw storeFault(thrown);
  }
  const workers = lease === undefined ? {} : { leaseMs: lease };
  const runtime = createRuntime({ store, auth: anonymous({ trust }), workers, onError });
  if (module === undefined) return addTryTools(runtime);
  await loadModule(runtime, module);
  return runtime;
}

/** Passes the runtime to the default export of a module. */
async function loadModule(runtime: Runtime, module: string): Promise<void> {
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

async function listen(invocation: Run, runtime: Runtime, listening: Listening[]): Promise<void> {
  const { ws, socket, fifo, stdio, host, insecure, origin, token: secret } = invocation.options;
  const isAlone = ws === undefined && socket === undefined && fifo === undefined && !stdio;
  try {
    if (ws !== undefined || isAlone) {
      const { url, close } = await listenWebSocket(runtime, {
        port: ws === true ? undefined : ws,
        host,
        token: secret,
        insecure,
        origins: origin.length === 0 ? undefined : origin,
      });
      listening.push({ name: url, close });
    }
    if (socket !== undefined) {
      const { close } = await listenUnix(runtime, socket);
      listening.push({ name: `unix:${socket}`, close });
    }
    if (fifo !== undefined) {
      const { close } = await listenFifo(runtime, fifoPair(fifo));
      listening.push({ name: `fifo:${fifo}`, close });
    }
  } catch (thrown) {
    throw notStarted(thrown);
  }
}
