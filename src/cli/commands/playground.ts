import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { endWithFile, PAGE_TYPES } from '../../channels/node/compressed.js';
import { type Admission, listenOn } from '../../channels/node/listen.js';
import { UsageError } from '../io/errors.js';
import { toJson } from '../io/json.js';
import { packageRoot } from '../io/package.js';
import { endBySignal } from '../io/signals.js';
import { defineCommand } from '../options/command.js';
import { integer, value } from '../options/option.js';
import { notStarted } from '../options/shared.js';

const PORT = 4780;
const HOST = '127.0.0.1';

/** The policy of the pages and of their workers. Only the frame for grammars may compile code; it has neither an origin nor network. */
const POLICY =
  "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; style-src 'self' 'nonce-pegwire-editor'; " +
  "img-src 'self' data:; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'";
const SANDBOX_POLICY =
  "default-src 'none'; script-src 'unsafe-inline' blob: 'unsafe-eval'; worker-src blob:; frame-ancestors 'self'; sandbox allow-scripts";

/** The tables of tokenizers that the page asks for. They are not a part of the package. */
const TABLE = /^\/tokenizers\/(o200k_base|cl100k_base|p50k_base|r50k_base)\.js$/;

export const command = defineCommand({
  takes: 'nothing',
  options: {
    port: value(
      'PORT',
      `Listen on this port (default: ${PORT}); 0 for any free port`,
      integer({ from: 0, to: 65_535 }),
    ),
  },
  details:
    `Prints the address of the page to stdout. Only this machine can open it. The page sends nothing anywhere. Token counts are exact if the ` +
    'package gpt-tokenizer is installed, and estimates otherwise. SIGINT or SIGTERM ends the server.',
  example: 'pegwire playground',
  run: async ({ options, output, json }) => {
    const { url, close } = await servePlayground(
      readFiles(path.join(packageRoot(), 'dist/playground')),
      options.port ?? PORT,
    );
    const ended = endBySignal(close, () => process.exit(1));
    await output.result(json ? toJson({ url }) : url);
    await ended;
    return 0;
  },
});

/** Serves the files of {@link readFiles} on the loopback. */
export async function servePlayground(
  files: ReadonlyMap<string, Buffer>,
  port: number,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  let server: Server | undefined;
  const { authority } = await listenOn(
    { port, host: HOST, token: undefined, insecure: false, origins: [] },
    (admission) => {
      server = serverOf(files, admission);
      return server;
    },
  ).catch((thrown: unknown) => {
    throw notStarted(thrown);
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server!.close(() => resolve());
      server!.closeAllConnections();
    });
  return { url: `http://${authority}/`, close };
}

/** Reads the compressed files of the page, by their paths on the server. */
export function readFiles(folder: string): ReadonlyMap<string, Buffer> {
  let names: readonly string[];
  try {
    names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.gz'));
  } catch {
    throw new UsageError(`Cannot read ${folder}: the playground is not built; run npm run playground`, 'unreadable');
  }
  return new Map(
    names.map((name) => [`/${name.replaceAll('\\', '/').replace(/\.gz$/, '')}`, readFileSync(path.join(folder, name))]),
  );
}

function serverOf(files: ReadonlyMap<string, Buffer>, { checkNames }: Admission): Server {
  return createServer((request, response) => {
    // Only the name of the host counts: the frame for grammars has no origin, and the files are public.
    const refusal = checkNames({ host: request.headers.host });
    if (refusal !== null) {
      answer(response, refusal.status, refusal.reason);
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      answer(response.setHeader('Allow', 'GET, HEAD'), 405, 'The playground is read-only.');
      return;
    }
    const { pathname } = new URL(request.url ?? '/', 'http://playground');
    const name = pathname === '/' ? '/index.html' : pathname;
    const file = files.get(name) ?? tableOf(name);
    if (file === null) {
      answer(response, 404, 'There is no such file.');
      return;
    }
    const headers = {
      'Content-Type': PAGE_TYPES[path.extname(name)] ?? 'application/octet-stream',
      'Content-Security-Policy': name === '/frame.html' ? SANDBOX_POLICY : POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      // Another version of pegwire may serve the same address tomorrow.
      'Cache-Control': 'no-cache',
    };
    for (const [header, content] of Object.entries(headers)) response.setHeader(header, content);
    endWithFile(request, response, file);
  });
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

/** Tables that were asked for, compressed. */
const tables = new Map<string, Buffer>();

/** Reads a table of the package gpt-tokenizer; `null` if it is not installed, or for any other path. */
function tableOf(name: string): Buffer | null {
  const encoding = TABLE.exec(name)?.[1];
  if (encoding === undefined) return null;
  let table = tables.get(encoding);
  if (table === undefined) {
    try {
      table = gzipSync(readFileSync(moduleFile(encoding)), { level: 6 });
    } catch {
      return null;
    }
    tables.set(encoding, table);
  }
  return table;
}

/** The file of a table as an ES module; require finds that for CommonJS. */
function moduleFile(encoding: string): string {
  const file = createRequire(import.meta.url).resolve(`gpt-tokenizer/bpeRanks/${encoding}`);
  return file.replace(/([\\/])cjs([\\/]bpeRanks[\\/])/, '$1esm$2');
}
