/** Headless Chromium, in a process group of its own. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';

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
