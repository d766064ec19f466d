/** Agents on the standard streams of their processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encode, linesOf, type RunResult, runAgent } from './agent-process.js';

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-stdio-'));
const library = path.join(folder, 'acp.mjs');
const entry = new URL('../../src/acp/index.ts', import.meta.url).pathname;
beforeAll(async () => {
  await build({ entryPoints: [entry], outfile: library, bundle: true, platform: 'node', format: 'esm' });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let programs = 0;
function programOf(code: string): string {
  const file = path.join(folder, `${++programs}.mjs`);
  writeFileSync(file, `import { serveStdio } from './acp.mjs';\n${code}`);
  return file;
}

const run = (code: string, ...messages: readonly unknown[]): Promise<RunResult> =>
  runAgent(programOf(code), [encode(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))]);

const request = (id: number, method: string): unknown => ({ jsonrpc: '2.0', id, method });
const answer = (id: number, result: unknown): unknown => ({ jsonrpc: '2.0', id, result });

describe('nothing but messages reaches stdout', () => {
  test('while the agent runs: other output goes to stderr', async () => {
    const ran = await run(
      `serveStdio({ handlers: { a: () => { console.log('logged'); console.info('told'); process.stdout.write('written\\n'); return 1; } } });
       console.log('started');`,
      request(1, 'a'),
    );
    expect(linesOf(ran)).toEqual([answer(1, 1)]);
    for (const word of ['logged', 'told', 'written', 'started']) expect(ran.stderr).toContain(word);
    expect(ran.code).toBe(0);
  });

  test.each([
    ['it has ended', 'await serveStdio({}).closed;'],
    ['it was closed', 'await serveStdio({}).close();'],
  ])('after %s, too: the reader of stdout expects messages', async (_, code) => {
    expect(await run(`${code} console.log('mine');`)).toEqual({ stdout: '', stderr: 'mine\n', code: 0 });
  });

  test('unless redirectStdout is false', async () => {
    const ran = await run(`serveStdio({ redirectStdout: false }); console.log('"mine"');`);
    expect(linesOf(ran)).toEqual(['mine']);
  });

  test.each([
    ['with invalid options', 'try { serveStdio({ maxBatch: 0 }); } catch {}'],
    ['with an invalid limit', 'try { serveStdio({ maxLineBytes: 0 }); } catch {}'],
  ])('%s, stdout is not changed', async (_, code) => {
    const ran = await run(`const { write } = process.stdout; ${code} console.log(write === process.stdout.write);`);
    expect(ran).toEqual({ stdout: 'true\n', stderr: '', code: 0 });
  });
});

describe('when stdin ends', () => {
  test('running handlers respond, to single requests and batches, and the process exits with 0', async () => {
    const ran = await run(
      'serveStdio({ handlers: { slow: () => new Promise((resolve) => setTimeout(resolve, 100, "done")) } });',
      request(1, 'slow'),
      [request(2, 'slow'), { jsonrpc: '2.0', method: 'slow' }],
    );
    expect(linesOf(ran)).toEqual([answer(1, 'done'), [answer(2, 'done')]]);
    expect(ran).toMatchObject({ stderr: '', code: 0 });
  });

  test('handlers that run longer than graceMs are aborted, and the process exits', async () => {
    const ran = await run(
      `serveStdio({ graceMs: 100, handlers: { stuck: (_, { signal }) => new Promise(() => {
         const timer = setInterval(() => {}, 1000);
         signal.addEventListener('abort', () => { clearInterval(timer); console.error('aborted'); });
       }) } });`,
      request(1, 'stuck'),
    );
    expect(ran).toEqual({ stdout: '', stderr: 'aborted\n', code: 0 });
  });

  test('a handler that waits for the other side does not keep the process alive', async () => {
    const ran = await run(
      `serveStdio({ handlers: { ask: async (_, { connection }) => { await connection.request('name').catch((error) => console.error(error.code)); return 1; } } });`,
      request(1, 'ask'),
    );
    expect(linesOf(ran)).toEqual([{ jsonrpc: '2.0', id: 1, method: 'name' }, answer(1, 1)]);
    expect(ran).toMatchObject({ stderr: 'closed\n', code: 0 });
  });
});

test('an agent whose output is closed exits with 0, without output', async () => {
  const file = programOf(
    "setInterval(() => agent.notify('n', ['x'.repeat(100_000)]).catch(() => {}), 5).unref(); const agent = serveStdio({ handlers: {} });",
  );
  const child = spawn(process.execPath, [file], { stdio: 'pipe' });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  // Its input stays open: only the broken pipe ends the agent.
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const [code] = await once(child, 'close');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
