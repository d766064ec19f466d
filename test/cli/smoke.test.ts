/** Each command and each transport as a program, once; `npm run test:programs` has more. */
import path from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, test } from 'vitest';
import { bundledProgram } from '../helpers/bundled-program.js';
import { ended, start } from '../helpers/child.js';
import { cli, lines, PROGRAM, program, scratchFolder } from '../helpers/cli.js';
import { serving } from './commands/connect/server.js';

const FRAME = '@planner>req:schedule{task:impl_auth}[mid:m1,seq:1]';
const PACKET = 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary';
const MESSAGE = '{"intent":"req","operation":"find","payload":{"query":"cats"}}';

const scratch = scratchFolder();
const grammar = scratch.write('list.peggy', 'start = item|1.., ","|\nitem = [a-z]+\n');
const agent = bundledProgram(new URL('../fixtures/minimal-agent.mjs', import.meta.url));

/** The arguments of each command. */
const RUNS: readonly (readonly [args: readonly string[], stdin: string, printed: string])[] = [
  [['parse', 'accp'], FRAME, '"agent":"planner"'],
  [['fmt', 'accp'], '@a>req:x{b:1.50|a:007}', '@a>req:x{b:1.5|a:7}'],
  [['check', 'aacp'], 'FETCH|HR|p:1|aacp:1.1', 'error[missing-return]'],
  [['explain', 'aacp'], PACKET, 'HR-Agent'],
  [['find', 'accp'], `Then came ${FRAME}.`, `10-61\tok\t${FRAME}`],
  [['encode', 'accp', '--agent', 'me'], MESSAGE, '@me>req:find{q:cats}'],
  [['decode', 'accp'], FRAME, '"operation":"schedule"'],
  [['fuzz', grammar, '--count', '3', '--seed', '1'], '', ','],
  [['export', grammar, '--to', 'gbnf'], '', 'root ::='],
  [['prompt', 'accp'], '', 'Reply with one ACCP frame only'],
  [['render'], FRAME, '@planner req schedule'],
  [['tokens'], MESSAGE, 'AACP'],
  [['registry', 'learn', '--share', '1'], MESSAGE, 'req:find'],
  [['aacp', 'workflows'], '', 'payroll'],
  [['diff', grammar, grammar], '', ''],
  [['completion', 'bash'], '', 'complete -o filenames'],
];

describe.concurrent('as a program', () => {
  test.each(RUNS)('%j', async (args, stdin, printed) => {
    const { code, stdout, stderr } = await program(args, { stdin });
    const exitCode = args[0] === 'check' ? 1 : 0;
    expect({ code, stdout, stderr }).toMatchObject({ code: exitCode, stdout: expect.stringContaining(printed) });
  });

  test('frames are answered over HTTP and WebSocket', async () => {
    const { http, ws, stop } = await serving(PROGRAM, ['--agent', 'echo']);
    for (const url of [http, ws]) {
      const { code, stdout } = await program(['connect', url, '--agent', 'me'], { stdin: lines(MESSAGE) });
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('done:find{q:cats}') });
    }
    expect((await stop()).code).toBe(0);
  });

  test('an agent answers a batch under acp run', async () => {
    const batch = JSON.stringify([{ jsonrpc: '2.0', id: 1, method: 'echo', params: ['a'] }]);
    const { code, stdout } = await program(['acp', 'run', '--', process.execPath, agent()], { stdin: lines(batch) });
    expect({ code, answer: JSON.parse(stdout) }).toMatchObject({ code: 0, answer: [{ id: 1, result: ['a'] }] });
  });

  test('a runtime is called over each of its transports', async () => {
    const socket = path.join(scratch.path, 'arcp.sock');
    const child = start([...PROGRAM, 'arcp', 'serve', '--ws', '0', '--socket', socket]);
    const over = ended(child);
    afterAll(() => child.kill('SIGKILL'));
    const urls = await new Promise<string>((resolve) => child.stdout.once('data', (text) => resolve(String(text))));
    for (const url of urls.trim().split('\n')) {
      const { code, stdout } = await program(['arcp', 'invoke', url, 'add', '{"a":2,"b":3}']);
      expect({ code, stdout }).toEqual({ code: 0, stdout: '5\n' });
    }
    child.kill('SIGTERM');
    expect((await over).code).toBe(0);
  });
});

test('no command is left out', async () => {
  const { stdout } = await cli(['--help']);
  const commands = stdout.match(/(?<=^Commands:\n)(?: {2}\w.*\n)+/m)![0].match(/(?<=^ {2})\w+/gm)!;
  const servers = ['serve', 'connect', 'acp', 'arcp', 'lsp'];
  // `bench` and `playground` run from the packed package, `conformance` around other programs, `inspect` with a browser: `npm run test:programs`.
  const elsewhere = ['bench', 'conformance', 'inspect', 'playground'];
  expect([...RUNS.map(([[name]]) => name!), ...servers, ...elsewhere].toSorted()).toEqual(commands.toSorted());
});
