import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { TRUST_LEVELS } from '../../../arcp/index.js';
import {
  anonymous,
  createRuntime,
  fifoPair,
  listenFifo,
  listenHttp,
  listenUnix,
  listenWebSocket,
  memoryStore,
  type Runtime,
  serveStdio,
  type TlsIdentity,
} from '../../../arcp/runtime/index.js';
import { systemReason } from '../../../text/system-reason.js';
import { UsageError, unreadable } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import { labelled } from '../../io/output.js';
import { endBySignal } from '../../io/signals.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { choice, duration, flag, integer, optional, text, texts, token, value } from '../../options/option.js';
import { notStarted, SERVER_OPTIONS } from '../../options/shared.js';
import { openDatabase } from './database.js';
import { addDemoTools } from './demo-tools.js';
import { McpServer } from './mcp-servers.js';

const OPTIONS = {
  ws: optional(
    'PORT',
    'Listen for WebSocket connections (default: 7777); 0 for any free port',
    integer({ from: 0, to: 65_535 }),
  ),
  http: optional(
    'PORT',
    'Listen for HTTP/2, and for server-sent events with POST (default: 7777); 0 for any free port',
    integer({ from: 0, to: 65_535 }),
  ),
  'tls-key': text('FILE', 'Encrypt --http with this private key in PEM; requires --tls-cert'),
  'tls-cert': text('FILE', 'The certificate of --tls-key in PEM, followed by those of its issuers'),
  socket: text('PATH', 'Listen on this Unix domain socket, which only its owner can open'),
  pipe: text('NAME', 'Listen on the named pipes NAME.in and NAME.out'),
  stdio: flag('Serve one client on stdin and stdout'),
  db: text(
    'FILE',
    'Store jobs, messages and sessions in this SQLite file or postgres:// database (default: in memory)',
  ),
  module: text('FILE', 'Load the tools from this module; its default export is a function that takes the runtime'),
  mcp: texts(
    'SERVER',
    'Add the tools, resources and prompts of this MCP server: a shell command or an http URL, after NAME.= if its names are to begin with NAME.; may be repeated',
  ),
  host: SERVER_OPTIONS.host,
  origin: texts('ORIGIN', 'Accept connections from web pages of this origin; may be repeated'),
  token: token('Require this bearer token from clients of --ws and --http'),
  insecure: SERVER_OPTIONS.insecure,
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
    'Without --ws, --http, --socket, --pipe and --stdio, listens as with --ws. Prints its addresses to stdout (with --stdio, to stderr).',
    'SIGINT or SIGTERM shuts it down: it accepts no connections and starts no jobs, and waits for the running ones. With --db, other runtimes ' +
      'of the database then continue unfinished jobs at once, or the next start does. A second signal ends it immediately.',
    'The demo tools are echo, add, count (a job with progress, a stream and checkpoints) and refund (a job that requests a permission), ' +
      'the agent writer and the workflow tour. With --module or --mcp, only the tools of the module and the servers exist.',
    'MCP servers are started with this program, and again after they end. --mcp requires the package @modelcontextprotocol/client.',
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
  const warn = (what: string, error: unknown): void =>
    note(labelled('warning', what, systemReason(error), output.paintNote));
  const runtime = await makeRuntime(invocation, (error) => warn('runtime', error));
  const listening: Listening[] = [];
  const servers: McpServer[] = [];
  const stopListening = (): Promise<unknown> => Promise.all(listening.splice(0).map(({ close }) => close()));
  let stopped: Promise<unknown> | undefined;
  try {
    // Before jobs run, which may be of their tools.
    for (const server of options.mcp)
      servers.push(await McpServer.connect(runtime, server, (error) => warn('mcp', error)));
    await listen(invocation, runtime, listening);
    runtime.start();
    const names = listening.map(({ name }) => name);
    // With --stdio, stdout carries only messages.
    if (options.stdio) for (const name of names) note(name);
    else await output.result(json ? toJson({ listening: names }) : names.join('\n'));
    const drain = (): Promise<void> => {
      // Clients that connect from now on find another runtime. Those that are connected receive the end of their jobs.
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

async function listen(invocation: Run, runtime: Runtime, listening: Listening[]): Promise<void> {
  const { ws, http, socket, pipe, stdio, host, insecure, origin, token: secret } = invocation.options;
  const isAlone = ws === undefined && http === undefined && socket === undefined && pipe === undefined && !stdio;
  const shared = { host, token: secret, insecure, origins: origin.length === 0 ? undefined : origin };
  const tls = tlsOf(invocation);
  try {
    if (ws !== undefined || isAlone) {
      const { url, close } = await listenWebSocket(runtime, { ...shared, port: ws === true ? undefined : ws });
      listening.push({ name: url, close });
    }
    if (http !== undefined) {
      const { url, close } = await listenHttp(runtime, { ...shared, port: http === true ? undefined : http, tls });
      listening.push({ name: url.replace(/^http:/, 'http2:'), close });
      listening.push({ name: `sse:${url}`, close: async () => {} });
    }
    if (socket !== undefined) {
      const { close } = await listenUnix(runtime, socket);
      listening.push({ name: `unix:${socket}`, close });
    }
    if (pipe !== undefined) {
      const { close } = await listenFifo(runtime, fifoPair(pipe));
      listening.push({ name: `pipe:${pipe}`, close });
    }
  } catch (thrown) {
    throw notStarted(thrown);
  }
}

/** Reads the key and the certificate. @throws UsageError if one is missing or unreadable */
function tlsOf({ options }: Run): TlsIdentity | undefined {
  const { 'tls-key': key, 'tls-cert': cert, http } = options;
  if (key === undefined && cert === undefined) return undefined;
  if (http === undefined)
    throw new UsageError('--tls-key and --tls-cert require --http', key === undefined ? 'tls-cert' : 'tls-key');
  if (key === undefined) throw new UsageError('--tls-cert requires --tls-key', 'tls-cert');
  if (cert === undefined) throw new UsageError('--tls-key requires --tls-cert', 'tls-key');
  return { key: readPem(key), cert: readPem(cert) };
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    throw unreadable(thrown, file);
  }
}
