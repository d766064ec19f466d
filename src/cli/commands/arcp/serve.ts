import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { TRUST_LEVELS } from '../../../arcp/index.js';
import { anonymous, createRuntime, memoryStore, type Runtime, serveStdio } from '../../../arcp/runtime/index.js';
import { shownAddress } from '../../../channels/shown-address.js';
import { tapRuntime } from '../../../inspector/tap.js';
import { systemReason } from '../../../text/system-reason.js';
import { UsageError, unreadable } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import { labelled } from '../../io/output.js';
import { packageVersion } from '../../io/package.js';
import { endBySignal } from '../../io/signals.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { choice, duration, text, texts, value } from '../../options/option.js';
import { INSPECT_OPTIONS, serverPages } from '../../session/inspector.js';
import { openDatabase } from './database.js';
import { addDemoTools } from './demo-tools.js';
import { LISTEN_OPTIONS, type Listening, listen } from './listeners.js';
import { McpServer } from './mcp-servers.js';

const OPTIONS = {
  ...LISTEN_OPTIONS,
  ...INSPECT_OPTIONS,
  db: text(
    'FILE',
    'Store jobs, messages and sessions in this SQLite file or postgres:// database (default: in memory)',
  ),
  module: text('FILE', 'Load the tools from this module; its default export is a function that takes the runtime'),
  mcp: texts(
    'SERVER',
    'Add the tools, resources and prompts of this MCP server: a shell command or an http URL, after NAME.= if its names are to begin with NAME.; may be repeated',
  ),
  trust: choice(
    'LEVEL',
    'Trust level of clients: untrusted, constrained (default), trusted or privileged',
    TRUST_LEVELS,
    () => 'constrained',
  ),
  lease: value(
    'DURATION',
    'Take over the work of a runtime that has not renewed its lease for this long (default: 15s)',
    duration({ isPositive: true }),
  ),
  grace: value('DURATION', 'On shutdown, wait this long for running jobs (default: 10s)', duration()),
  queue: texts('NAME', 'Run jobs of this queue; may be repeated (default: default)'),
  name: text('NAME', 'Show this name in pegwire arcp status (default: the name of the host)'),
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: 'nothing',
  options: OPTIONS,
  details: [
    'Without --ws, --http, --quic, --socket, --pipe, --nats, --rabbitmq and --stdio, listens as with --ws. Prints its addresses to stdout (with --stdio, to stderr).',
    'SIGINT or SIGTERM shuts it down: it accepts no connections and starts no jobs, and waits for the running ones. With --db, other runtimes ' +
      'of the database then continue unfinished jobs at once, or the next start does. A second signal ends it immediately.',
    'The demo tools are echo, add, count (a job with progress, a stream and checkpoints) and refund (a job that requests a permission), ' +
      'the agent writer and the workflow tour. With --module or --mcp, only the tools of the module and the servers exist.',
    'MCP servers are started with this program, and again after they end. --mcp requires the package @modelcontextprotocol/client.',
  ],
  example: 'pegwire arcp serve --ws 7777 --db arcp.db',
  run,
});

async function run(invocation: Run): Promise<number> {
  const { options, output, json } = invocation;
  const note = (text: string): void => void output.note(text);
  const warn = (what: string, error: unknown): void =>
    note(labelled('warning', what, systemReason(error), output.paintNote));
  const listening: Listening[] = [];
  const pages = serverPages(options, 'arcp', () => ({
    title: 'pegwire arcp serve',
    facts: [
      ['Version', packageVersion()],
      ['State', runtime.state],
      ...listening.map(({ name }) => ['Address', name] as const),
      ['Connections', String(runtime.counts().connections)],
      ['Running jobs', String(runtime.counts().jobs)],
      ['Store', options.db === undefined ? 'memory' : shownAddress(options.db)],
    ],
  }));
  const runtime = await makeRuntime(invocation, (error) => warn('runtime', error));
  if (pages.feed !== undefined) tapRuntime(runtime, pages.feed);
  const servers: McpServer[] = [];
  const stopListening = (): Promise<unknown> => Promise.all(listening.splice(0).map(({ close }) => close()));
  let stopped: Promise<unknown> | undefined;
  try {
    // Before jobs run, which may be of their tools.
    for (const server of options.mcp)
      servers.push(await McpServer.connect(runtime, server, (error) => warn('mcp', error)));
    await listen(invocation, runtime, listening, (error) => warn('connection', error), pages.answer);
    runtime.start();
    const names = listening.map(({ name }) => name);
    // With --stdio, stdout carries only messages.
    const address = names.find((name) => /^(?:wss?|http2|https?):/.test(name));
    if (pages.feed !== undefined && address === undefined) throw new UsageError('--inspect requires --ws or --http');
    const inspect = pages.feed && pages.urlAt(address!);
    if (inspect !== undefined && (!json || options.stdio)) note(`Inspector: ${inspect}`);
    if (options.stdio) for (const name of names) note(name);
    else await output.result(json ? toJson({ listening: names, inspect }) : names.join('\n'));
    const drain = (): Promise<void> => {
      // Clients that connect from now on find another runtime. Those that are connected receive the end of their jobs.
      pages.close();
      stopped = stopListening();
      return runtime.drain(options.grace ?? 10_000);
    };
    await endBySignal(drain, () => process.exit(130), options.stdio ? serveStdio(runtime) : undefined);
  } finally {
    stopped ??= stopListening();
    // A listener ends after its connections.
    await runtime.close();
    await stopped;
    for (const server of servers) await server.close();
  }
  return 0;
}

async function makeRuntime(invocation: Run, onError: (error: unknown) => void): Promise<Runtime> {
  const { db: file, trust, module, mcp, lease, queue: queues, name = hostname() } = invocation.options;
  const store = file === undefined ? memoryStore() : await openDatabase(file);
  const workers = { leaseMs: lease, queues: queues.length === 0 ? undefined : queues };
  const runtime = createRuntime({ store, auth: anonymous({ trust }), workers, name, onError });
  if (module === undefined) return mcp.length === 0 ? addDemoTools(runtime) : runtime;
  await loadModule(runtime, module);
  return runtime;
}

/** Passes the runtime to the default export of a module. @throws UsageError if the module cannot be loaded or fails */
async function loadModule(runtime: Runtime, module: string): Promise<void> {
  try {
    readFileSync(module);
  } catch (thrown) {
    await runtime.close();
    throw unreadable(thrown, module);
  }
  try {
    const loaded = (await import(pathToFileURL(path.resolve(module)).href)) as { readonly default?: unknown };
    if (typeof loaded.default !== 'function') throw new Error('its default export is not a function');
    await loaded.default(runtime);
  } catch (thrown) {
    await runtime.close();
    throw new UsageError(
      `Cannot load ${module}: ${(thrown instanceof Error ? thrown.message : String(thrown)).replace(/\.$/, '')}`,
      'module',
    );
  }
}
