/** `pegwire acp run` as a program between a client and an agent: bytes in, bytes out. */
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { encode, linesOf, type RunResult } from '../../../acp/agent-process.js';
import { gone } from '../../../helpers/alive.js';
import { bundledProgram } from '../../../helpers/bundled-program.js';
import { ended, start } from '../../../helpers/child.js';
import { cli, jsonLines, lines, PROGRAM, scratchFolder } from '../../../helpers/cli.js';

const minimalAgent = bundledProgram(new URL('../../../fixtures/minimal-agent.mjs', import.meta.url));
const scratch = scratchFolder();

/**
 * Agents without support for batches: they read one message per line, and exit on anything else.
 *
 * @param answer how a message is answered
 */
function plainAgent(name: string, answer: string): string {
  return scratch.write(
    `${name}.mjs`,
    `import { createInterface } from 'node:readline';
    const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    createInterface({ input: process.stdin }).on('line', (line) => {
      const message = JSON.parse(line);
      if (Array.isArray(message)) process.exit(99);
      const { id, method, params } = message;
      ${answer}
    });`,
  );
}

const echoing = plainAgent('echoing', 'if (id !== undefined) send({ id, result: { method, params } });');

interface Around {
  readonly options?: readonly string[];
  readonly args?: readonly string[];
}

function startAround(agent: string, { options = [], args = [] }: Around = {}) {
  return start([...PROGRAM, 'acp', 'run', ...options, '--', process.execPath, agent, ...args]);
}

/** Runs an agent under the command, with an input that ends. */
async function around(agent: string, pieces: readonly (string | Uint8Array)[], more?: Around): Promise<RunResult> {
  const child = startAround(agent, more);
  const over = ended(child);
  for (const piece of pieces) await new Promise((resolve) => child.stdin.write(piece, resolve));
  child.stdin.end();
  return over;
}

const request = (id: unknown, method: string, params?: unknown) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params === undefined ? {} : { params }),
});
const json = (...values: readonly unknown[]): string => lines(...values.map((value) => JSON.stringify(value)));

describe('with an agent that supports batches', () => {
  test.each(['split', 'pass'])(
    'a thousand requests in one batch are answered by one array, with --batches %s',
    async (name) => {
      const ids = Array.from({ length: 1000 }, (_, id) => id);
      const batch = ids.map((id) => request(id, 'echo', [id]));
      const ran = await around(minimalAgent(), [json(batch)], { options: ['--batches', name] });
      const [answers, ...rest] = linesOf(ran) as { id: number }[][];
      expect(rest).toEqual([]);
      expect(answers!.map(({ id }) => id).sort((a, b) => a - b)).toEqual(ids);
    },
  );

  test('twenty thousand requests are answered in order', async () => {
    const ids = Array.from({ length: 20_000 }, (_, id) => id);
    const ran = await around(minimalAgent(), [json(...ids.map((id) => request(id, 'echo', [id])))]);
    expect(linesOf(ran).map((line) => (line as { id: number }).id)).toEqual(ids);
  });
});

describe('with an agent that does not support batches', () => {
  test('the agent receives the entries one by one, and the client one array', async () => {
    const batch = [request('a', 'x', [1]), { jsonrpc: '2.0', method: 'note' }, 7, request('b', 'y')];
    const ran = await around(echoing, [json(batch, request(3, 'z'))]);
    expect(linesOf(ran)).toEqual([
      [
        { jsonrpc: '2.0', id: null, error: { code: -32600, message: expect.any(String) } },
        { jsonrpc: '2.0', id: 'a', result: { method: 'x', params: [1] } },
        { jsonrpc: '2.0', id: 'b', result: { method: 'y' } },
      ],
      { jsonrpc: '2.0', id: 3, result: { method: 'z' } },
    ]);
    expect(ran.code).toBe(0);
  });

  test('a batch of notifications is not answered', async () => {
    const ran = await around(echoing, [
      json([
        { jsonrpc: '2.0', method: 'a' },
        { jsonrpc: '2.0', method: 'b' },
      ]),
    ]);
    expect(ran.stdout).toBe('');
  });

  test('responses to two batches with the same identifiers are not mixed up', async () => {
    const ran = await around(echoing, [json([request(1, 'a'), request(2, 'b')], [request(1, 'c')], request(1, 'd'))]);
    const methods = linesOf(ran).map((line) =>
      [line].flat().map((one) => (one as { result: { method: string } }).result.method),
    );
    expect(methods).toEqual([['a', 'b'], ['c'], ['d']]);
  });

  test('a batch that the agent has not answered when it exits is answered with errors', async () => {
    const agent = plainAgent('first-only', 'if (id === 1) { send({ id, result: 1 }); } else process.exit(3);');
    const ran = await around(agent, [json([request(1, 'a'), request(2, 'b')])]);
    expect(linesOf(ran)).toEqual([
      [
        { jsonrpc: '2.0', id: 1, result: 1 },
        { jsonrpc: '2.0', id: 2, error: { code: -32603, message: 'The agent has ended' } },
      ],
    ]);
    expect(ran.code).toBe(3);
  });

  test('with --batches pass, the agent receives batches unchanged', async () => {
    expect((await around(echoing, [json([request(1, 'a')])], { options: ['--batches', 'pass'] })).code).toBe(99);
  });
});

describe('messages', () => {
  const copying = scratch.write('copying.mjs', 'process.stdin.pipe(process.stdout);');

  test('are relayed unchanged in both directions', async () => {
    const single = [
      '{"jsonrpc":"2.0","id":1,"result":{"big":123456789012345678901234567890,"zero":1.0,"tiny":1e-400}}',
      '{ "method" : "x" ,  "jsonrpc":"2.0", "params":{"text":"\\u00e9 \\/ \\ud83d\\ude00 é"} }',
      '{"jsonrpc":"2.0","method":"n","params":{"a":1,"a":2}}',
    ];
    const batch = ['{"jsonrpc":"2.0","id":1,"result":[1.10, 2.0]}', '{"jsonrpc":"2.0","id":2,"result":"a\\",[b"}'];
    const ran = await around(copying, [lines(...single, `[${batch.join(' , ')}]`)]);
    expect(ran.stdout).toBe(lines(...single, ...batch));
  });

  test('keep their digits when a batch is split', async () => {
    const seen = scratch.write('seen.mjs', "process.stdin.on('data', (chunk) => process.stderr.write(chunk));");
    const entries = [
      '{"jsonrpc":"2.0","method":"a","params":[1.0,12345678901234567890]}',
      '{"jsonrpc": "2.0", "method":"]},{"}',
    ];
    const ran = await around(seen, [`[${entries.join(' ,')}]\n`]);
    expect(ran.stderr).toBe(lines(...entries));
  });

  test('that are invalid are reported on stderr and not relayed', async () => {
    const agent = plainAgent(
      'talking',
      "process.stdout.write('debug: ' + method + '\\n\\n{\"half\":1}\\n'); send({ id, result: 0 });",
    );
    const ran = await around(agent, [json(request(1, 'a'))]);
    expect(linesOf(ran)).toEqual([{ jsonrpc: '2.0', id: 1, result: 0 }]);
    expect(ran.stderr).toContain('Not relayed from the agent: Parse error: debug: a');
    expect(ran.stderr).toContain(
      'Not relayed from the agent: a message must have a method, a result or an error: {"half":1}',
    );
    expect(ran.code).toBe(0);
  });

  test('that are invalid responses become errors, so that no request waits forever', async () => {
    const agent = plainAgent('bad', 'send({ id, result: 1, error: null });');
    const ran = await around(agent, [json(request(1, 'a'), [request(2, 'b')])]);
    const error = { code: -32603, message: expect.any(String) };
    expect(linesOf(ran)).toEqual([{ jsonrpc: '2.0', id: 1, error }, [{ jsonrpc: '2.0', id: 2, error }]]);
  });

  test('that cannot be read become errors of the requests that they answer', async () => {
    const agent = plainAgent(
      'unreadable',
      `const { bytes } = params; process.stdout.write(Buffer.from(bytes + '0a', 'hex'));`,
    );
    const hex = (text: string, encoding: BufferEncoding = 'utf8'): object => ({
      bytes: Buffer.from(text, encoding).toString('hex'),
    });
    const ran = await around(agent, [
      json(
        request(1, 'a', hex('{"jsonrpc":"2.0","id":1,"result":NaN}')),
        request(2, 'a', hex('{"jsonrpc":"2.0","id":2,"result":"\u00ff"}', 'latin1')),
        request(3, 'a', hex('{"jsonrpc":"2.0","id":3}')),
        [request(4, 'a', hex('{"jsonrpc":"2.0","id":4,"result":undefined}'))],
      ),
    ]);
    expect(linesOf(ran).flat()).toMatchObject([1, 2, 3, 4].map((id) => ({ id, error: { code: -32603 } })));
  });

  test('over 32 MiB are rejected with one error, and the agent ends', async () => {
    const ran = await around(echoing, [encode('x'.repeat(33 * 1024 * 1024)), encode('\n')]);
    expect(linesOf(ran)).toMatchObject([{ id: null, error: { code: -32600 } }]);
    expect(ran.code).toBe(0);
  });

  test('of both sides are logged unchanged, readable only by the owner', async () => {
    const log = path.join(scratch.path, 'messages.jsonl');
    await around(echoing, [json([request(1, 'a')]), '{"jsonrpc":"2.0","method":"n","params":[1.50]}\nnonsense\n'], {
      options: ['--log', log],
    });
    const text = readFileSync(log, 'utf8');
    expect(text).toContain('"message":{"jsonrpc":"2.0","method":"n","params":[1.50]}}');
    const result = { jsonrpc: '2.0', id: 1, result: { method: 'a' } };
    const logged = jsonLines(text) as { at: string; from: string }[];
    expect(logged.filter(({ from }) => from === 'client')).toMatchObject([
      { message: request(1, 'a') },
      { message: { method: 'n' } },
      { rejected: 'Parse error', text: 'nonsense' },
    ]);
    expect(logged.filter(({ from }) => from === 'agent')).toMatchObject([{ message: result }]);
    expect(logged.filter(({ from }) => from === 'pegwire')).toMatchObject(
      // The order of these two depends on the speed of the agent.
      expect.arrayContaining([
        expect.objectContaining({ message: [result] }),
        expect.objectContaining({ message: expect.objectContaining({ id: null }) }),
      ]),
    );
    for (const { at } of logged) expect(new Date(at).toISOString()).toBe(at);
    if (process.platform !== 'win32') expect(statSync(log).mode & 0o777).toBe(0o600);
  });
});

describe('the agent', () => {
  test.each([0, 7])('determines the exit code: %i', async (code) => {
    const agent = scratch.write('ending.mjs', 'process.exit(Number(process.argv[2]));');
    const child = startAround(agent, { args: [String(code)] });
    // The client is still connected; the agent has exited.
    expect((await ended(child)).code).toBe(code);
  });

  test('that is ended by a signal gives 128 plus its number', async () => {
    const agent = scratch.write('killed.mjs', "process.kill(process.pid, 'SIGKILL');");
    expect((await ended(startAround(agent))).code).toBe(137);
  });

  test('receives the arguments after -- unchanged', async () => {
    const agent = scratch.write('args.mjs', 'console.error(JSON.stringify(process.argv.slice(2)));');
    const args = ['--json', '--help', 'help', '--', '--log', '-x'];
    const { stderr, code } = await around(agent, [], { args });
    expect(JSON.parse(stderr)).toEqual(args);
    expect(code).toBe(0);
  });

  test('logs to stderr', async () => {
    const agent = scratch.write('logging.mjs', "process.stderr.write('Grüße €😀\\n');");
    expect((await around(agent, [])).stderr).toBe('Grüße €😀\n');
  });

  test('finishes open requests after the end of the input', async () => {
    const ran = await around(minimalAgent(), [json(request(1, 'sleep', { ms: 300 }))]);
    expect(linesOf(ran)).toEqual([{ jsonrpc: '2.0', id: 1, result: 300 }]);
  });

  test('that does not exit after the end of the input is ended', async () => {
    const agent = scratch.write('staying.mjs', 'setInterval(() => {}, 1000);');
    expect((await around(agent, [], { options: ['--grace', '100ms'] })).code).toBe(143);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)('receives %s, as do its children', async (signal) => {
    // The agent is not in the group of its child: both receive the signal, in any order.
    const agent = scratch.write(
      'family.mjs',
      `import { spawn } from 'node:child_process';
      const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000); console.log("ready")'], { stdio: ['ignore', 'pipe', 'ignore'] });
      child.stdout.once('data', () => process.stderr.write(child.pid + '\\n'));
      child.once('exit', () => process.stderr.write('child gone\\n'));
      for (const one of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(one, () => { process.stderr.write(one + '\\n'); setTimeout(() => process.exit(5), 100); });
      setInterval(() => {}, 1000);`,
    );
    const child = startAround(agent);
    const over = ended(child);
    const [pid] = await once(child.stderr, 'data');
    child.kill(signal);
    const { code, stderr } = await over;
    expect({ code, got: stderr.includes(signal) }).toEqual({ code: 5, got: true });
    await gone(Number(pid));
  });

  test.each(['an end of its input', 'SIGTERM'] as const)(
    'ends after %s, even if its output is not read',
    async (how) => {
      const agent = scratch.write(
        'flooding.mjs',
        `process.stdin.resume();
      const line = JSON.stringify({ jsonrpc: '2.0', method: 'n', params: ['x'.repeat(1000)] }) + '\\n';
      const flood = () => { while (process.stdout.write(line)); process.stdout.once('drain', flood); };
      flood();
      process.stderr.write('ready\\n');`,
      );
      const child = startAround(agent, { options: ['--grace', '200ms'] });
      await once(child.stderr, 'data');
      const exited = once(child, 'exit');
      if (how === 'SIGTERM') child.kill(how);
      else child.stdin.end();
      expect(await exited).toEqual([143, null]);
      child.stdout.destroy();
    },
  );

  test('continues when its log is no longer read', async () => {
    const agent = scratch.write(
      'chatty.mjs',
      `import { createInterface } from 'node:readline';
      createInterface({ input: process.stdin }).on('line', (line) => {
        const { id } = JSON.parse(line);
        process.stderr.write('working\\n', () => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: 1 }) + '\\n'));
      });`,
    );
    const child = startAround(agent);
    const answers: string[] = [];
    for (const id of [1, 2, 3, 4]) {
      child.stdin.write(`junk\n${json(request(id, 'x'))}`);
      for (const answer of String((await once(child.stdout, 'data'))[0])
        .trim()
        .split('\n'))
        answers.push(answer);
      child.stderr.destroy();
    }
    child.stdin.end();
    const exited = once(child, 'exit');
    child.stdout.on('data', (piece) => answers.push(...String(piece).trim().split('\n')));
    expect(await exited).toEqual([0, null]);
    expect(answers.filter((answer) => answer.includes('"result":1'))).toHaveLength(4);
  });

  test('a flood of invalid text is reported only up to a limit', async () => {
    const ran = await around(minimalAgent(), [`${'junk\n'.repeat(3000)}${json(request(1, 'echo', []))}`]);
    expect(ran.stderr.split('\n').length).toBeLessThan(110);
    expect(ran.stderr).toContain('No more are reported until a message arrives.');
    expect(linesOf(ran).at(-1)).toEqual({ jsonrpc: '2.0', id: 1, result: [] });
  });

  test('that cannot be started is reported, with exit code 2', async () => {
    const child = start([...PROGRAM, 'acp', 'run', '--', path.join(scratch.path, 'no-such-agent')], {
      stdin: '',
    });
    const { code, stdout, stderr } = await ended(child);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error\[[\w-]+\]: .*no-such-agent could not be started: there is no such program/);
  });
});

describe('incorrect usage', () => {
  test.each([
    [['acp'], 'acp requires a command: run'],
    [['acp', 'run'], 'acp run requires a program: pegwire acp run -- CMD [ARG...]'],
    [['acp', 'run', '--'], 'acp run requires a program: pegwire acp run -- CMD [ARG...]'],
    [['acp', 'run', '--batches', 'no', '--', 'x'], '--batches must be split or pass; got "no"'],
    [['acp', 'run', '--grace', 'x', '--', 'x'], '--grace must be a duration such as 500ms, 30s, 2m, 1h or 7d; got "x"'],
    [['acp', 'run', '--log', '/no/such/folder/log', '--', 'x'], 'Cannot write /no/such/folder/log'],
    [['acp', 'run', '--wait', '--', 'x'], 'Unknown option --wait'],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await cli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});
