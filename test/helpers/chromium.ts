/** Headless Chromium, in a process group of its own. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { compileProgram } from './bundled-program.js';
import type { Outcome } from './page-program.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The program. Without one, tests are skipped with the reason. */
export const chromium = NAMES.find((name) => spawnSync(name, ['--version'], { timeout: 60_000 }).status === 0);

/** A suffix for the names of skipped tests. */
export const chromiumHint =
  chromium === undefined ? ' (skipped: Chromium is missing; Debian has it as the package chromium)' : '';

export interface Browser {
  /** The end of its log. */
  readonly log: () => string;
  /** Terminates all its processes and deletes its files. */
  readonly close: () => Promise<void>;
}

/** Opens a page. */
export function browse(url: string): Browser {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-chromium-'));
  const options = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
  const child = spawn(chromium!, [...options, `--user-data-dir=${folder}`, url], {
    ...{ detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
    // Chromium stores other files there, too.
    env: { ...process.env, HOME: folder },
  });
  let log = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-4096);
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()).on('error', () => resolve()));
  return {
    log: () => log,
    close: async () => {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, 'SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Milliseconds for a page, including the start of the browser on a slow machine. */
export const PAGE_MS = 90_000;

/** A program that runs as a web page. */
export interface Page<Result> {
  /** The origin of the page. */
  readonly origin: string;
  /** Opens the page and returns the result of its program. @throws Error if the program fails, or does not end */
  readonly run: (parameters: object) => Promise<Result>;
  readonly close: () => Promise<void>;
}

/** Serves a program, which calls `runProgram` of `page-program.ts`, as a page. */
export async function servePage<Result>(source: URL): Promise<Page<Result>> {
  const program = await compileProgram(source, { platform: 'browser' });
  const script = readFileSync(program.file, 'utf8');
  program.remove();
  let settle: (outcome: Outcome) => void = () => {};
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') settle(JSON.parse(await text(request)) as Outcome);
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(
      isScript ? script : '<!doctype html><title>page</title><script type="module" src="/page.js"></script>',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    run: async (parameters) => {
      const outcome = new Promise<Outcome>((resolve, reject) => {
        settle = resolve;
        setTimeout(() => reject(new Error(`The page has not ended. ${browser.log()}`)), PAGE_MS).unref();
      });
      const browser = browse(`${origin}/#${encodeURIComponent(JSON.stringify(parameters))}`);
      try {
        const { error, result } = await outcome;
        if (error !== undefined) throw new Error(`The page has failed: ${error}`);
        return result as Result;
      } finally {
        await browser.close();
      }
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
