/** Starts processes that work on a registry file. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, expect } from 'vitest';
import { sqliteRegistry } from '../../../src/aacp/registry/sqlite.js';
import { REGISTRY_FORMAT } from '../../../src/aacp/registry/sqlite-format.js';
import { openDatabase } from '../../../src/storage/open.js';

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));
const PACKAGES = fileURLToPath(new URL('../../../node_modules', import.meta.url));

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-registry-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The bundled program: compiling it in each process would take most of their time. */
const program = bundled();

async function bundled(): Promise<string> {
  const outfile = path.join(folder, 'child.mjs');
  symlinkSync(PACKAGES, path.join(folder, 'node_modules'));
  await build({ entryPoints: [CHILD], outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm' });
  return outfile;
}

export interface Worked {
  readonly code: number;
  readonly stderr: string;
  /** The output, without the line that reports that the file is open. */
  readonly lines: readonly string[];
}

/** @param onLine receives each line */
export async function working(
  args: readonly string[],
  onLine: (line: string, kill: () => void) => void = () => {},
): Promise<Worked> {
  const child = spawn(process.execPath, [await program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  let stderr = '';
  child.stderr.on('data', (piece: Buffer) => {
    stderr += piece.toString();
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line !== 'open') lines.push(line);
    onLine(line, () => void child.kill('SIGKILL'));
  });
  const code = await new Promise<number>((resolve) => child.on('close', (status) => resolve(status ?? -1)));
  return { code, stderr, lines };
}

/** The result of SQLite's integrity check of a registry file. */
export async function integrityOf(file: string): Promise<unknown> {
  const database = await openDatabase(file, { format: REGISTRY_FORMAT });
  try {
    return database
      .prepare('PRAGMA integrity_check')
      .all()
      .map((row) => row['integrity_check']);
  } finally {
    database.close();
  }
}

/**
 * Kills a process at a random point while it writes, several times: all entries that it reported must be there, with their
 * terms, and the file must be intact.
 */
export async function killTimeAndAgain(file: string, times: number): Promise<void> {
  const acknowledged: string[] = [];
  for (let round = 1; round <= times; round++) {
    let left = 1 + Math.floor(Math.random() * 60);
    const { code, lines } = await working([file, 'put', `round${round}`], (_line, kill) => {
      if (--left <= 0) kill();
    });
    expect(code).not.toBe(0);
    // A key whose line was cut off does not count as reported.
    acknowledged.push(...lines.filter((line) => line.length === 64));
    const registry = await sqliteRegistry(file);
    for (const key of acknowledged) {
      const entry = registry.get(key);
      expect(entry?.key).toBe(key);
      expect(registry.candidates('HR', [entry!.terms[2]!], 9).map((found) => found.key)).toEqual([key]);
    }
    registry.close();
    expect(await integrityOf(file)).toEqual(['ok']);
  }
  expect(acknowledged.length).toBeGreaterThanOrEqual(times - 1);
}
