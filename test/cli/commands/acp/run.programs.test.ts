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
 * Agents that know nothing of batches: they read one message a line, and die of anything else.
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

describe('around an agent that knows batches', () => {
  test.each(['split', 'pass'])(
    'a thousand requests in one batch come back in one array, with --batches %s',
    async (name) => {
      const ids = Array.from({ length: 1000 }, (_, id) => id);
      const batch = ids.map((id) => request(id, 'echo', [id]));
      const ran = await around(minimalAgent(), [json(batch)], { options: ['--batches', name] });
      const [answers, ...rest] = linesOf(ran) as { id: number }[][];
      expect(rest).toEqual([]);
      expect(answers!.map(({ id }) => id).sort((a, b) => a - b)).toEqual(ids);
    },
  );

  test('twenty thousand requests come back in their order', async () => {
    const ids = Array.from({ length: 20_000 }, (_, id) => id);
    const ran = await around(minimalAgent(), [json(...ids.map((id) => request(id, 'echo', [id])))]);
    expect(linesOf(ran).map((line) => (line as { id: number }).id)).toEqual(ids);
  });
});

describe('around an agent that knows no batches', () => {
  test('it gets the entries one by one, and the client one array', async () => {
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

  test('a batch of notifications is answered by nothing', async () => {
    const ran = await around(echoing, [
      json([
        { jsonrpc: '2.0', method: 'a' },
        { jsonrpc: '2.0', method: 'b' },
      ]),
    ]);
    expect(ran.stdout).toBe('');
  });

  test('answers to two batches with the same identifiers do not get mixed up', async () => {
    const ran = await around(echoing, [json([request(1, 'a'), request(2, 'b')], [request(1, 'c')], request(1, 'd'))]);
    const methods = linesOf(ran).map((line) =>
      [line].flat().map((one) => (one as { result: { method: string } }).result.method),
    );
    expect(methods).toEqual([['a', 'b'], ['c'], ['d']]);
  });

  test('a batch that the agent leaves unanswered when it ends is answered by errors', async () => {
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

  test('with --batches pass it gets them as they are', async () => {
    expect((await around(echoing, [json([request(1, 'a')])], { options: ['--batches', 'pass'] })).code).toBe(99);
  });
});

describe('messages', () => {
  const copying = scratch.write('copying.mjs', 'process.stdin.pipe(process.stdout);');

  test('are passed on as they stand there, to the agent and from it', async () => {
    const single = [
      '{"jsonrpc":"2.0","id":1,"result":{"big":123456789012345678901234567890,"zero":1.0,"tiny":1e-400}}',
      '{ "method" : "x" ,  "jsonrpc":"2.0", "params":{"text":"\\u00e9 \\/ \\ud83d\\ude00 é"} }',
      '{"jsonrpc":"2.0","method":"n","params":{"a":1,"a":2}}',
    ];
    const batch = ['{"jsonrpc":"2.0","id":1,"result":[1.10, 2.0]}', '{"jsonrpc":"2.0","id":2,"result":"a\\",[b"}'];
    const ran = await around(copying, [lines(...single, `[${batch.join(' , ')}]`)]);
    expect(ran.stdout).toBe(lines(...single, ...batch));
  });

  test('keep their digits in a batch that is taken apart', async () => {
    const seen = scratch.write('seen.mjs', "process.stdin.on('data', (chunk) => process.stderr.write(chunk));");
    const entries = [
      '{"jsonrpc":"2.0","method":"a","params":[1.0,12345678901234567890]}',
      '{"jsonrpc": "2.0", "method":"]},{"}',
    ];
    const ran = await around(seen, [`[${entries.join(' ,')}]\n`]);
    expect(ran.stderr).toBe(lines(...entries));
  });

  test('that the agent does not have are told on stderr, and not passed on', async () => {
    const agent = plainAgent(
      'talking',
      "process.stdout.write('debug: ' + method + '\\n\\n{\"half\":1}\\n'); send({ id, result: 0 });",
    );
    const ran = await around(agent, [json(request(1, 'a'))]);
    expect(linesOf(ran)).toEqual([{ jsonrpc: '2.0', id: 1, result: 0 }]);
    expect(ran.stderr).toContain('Not relayed from the agent: Parse error: debug: a');
    expect(ran.stderr).toContain(
      'Not relayed from the agent: a message has a method, a result or an error: {"half":1}',
    );
    expect(ran.code).toBe(0);
  });

  test('that answer a request badly are answered by an error, so that nobody waits for ever', async () => {
    const agent = plainAgent('bad', 'send({ id, result: 1, error: null });');
    const ran = await around(agent, [json(request(1, 'a'), [request(2, 'b')])]);
    const error = { code: -32603, message: expect.any(String) };
    expect(linesOf(ran)).toEqual([{ jsonrpc: '2.0', id: 1, error }, [{ jsonrpc: '2.0', id: 2, error }]]);
  });

  test('that cannot be read are errors of the requests that they answer', async () => {
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

  test('over 32 MiB are refused with one error, and the agent ends', async () => {
    const ran = await around(echoing, [encode('x'.repeat(33 * 1024 * 1024)), encode('\n')]);
    expect(linesOf(ran)).toMatchObject([{ id: null, error: { code: -32600 } }]);
    expect(ran.code).toBe(0);
  });

  test('of both sides are in the log, as they were, for its owner alone', async () => {
    const log = path.join(scratch.path, 'messages.jsonl');
    await around(echoing, [json([request(1, 'a')]), '{"jsonrpc":"2.0","method":"n","params":[1.50]}\nnonsense\n'], {
      options: ['--log', log],
    });
    const text = readFileSync(log, 'utf8');
    expect(text).toContain('"message":{"jsonrpc":"2.0","method":"n","params":[1.50]}}');
    const result = { jsonrpc: '2.0', id: 1, result: { method: 'a' } };
    const told = jsonLines(text) as { at: string; from: string }[];
    expect(told.filter(({ from }) => from === 'client')).toMatchObject([
      { message: request(1, 'a') },
      { message: { method: 'n' } },
      { rejected: 'Parse error', text: 'nonsense' },
    ]);
    expect(told.filter(({ from }) => from === 'agent')).toMatchObject([{ message: result }]);
    expect(told.filter(({ from }) => from === 'pegwire')).toMatchObject(
      // Which of the two is first depends on how fast the agent is.
      expect.arrayContaining([
        expect.objectContaining({ message: [result] }),
        expect.objectContaining({ message: expect.objectContaining({ id: null }) }),
      ]),
    );
    for (const { at } of told) expect(new Date(at).toISOString()).toBe(at);
    if (process.platform !== 'win32') expect(statSync(log).mode & 0o777).toBe(0o600);
  });
});

describe('the agent', () => {
  test.each([0, 7])('gives its exit code: %i', async (code) => {
    const agent = scratch.write('ending.mjs', 'process.exit(Number(process.argv[2]));');
    const child = startAround(agent, { args: [String(code)] });
    // The client has not ended: it is the agent that has.
    expect((await ended(child)).code).toBe(code);
  });

  test('that a signal has ended gives 128 and its number', async () => {
    const agent = scratch.write('killed.mjs', "process.kill(process.pid, 'SIGKILL');");
    expect((await ended(startAround(agent))).code).toBe(137);
  });

  test('gets what stands behind --, whatever it looks like', async () => {
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

  test('answers what it is working on when the input has ended', async () => {
    const ran = await around(minimalAgent(), [json(request(1, 'sleep', { ms: 300 }))]);
    expect(linesOf(ran)).toEqual([{ jsonrpc: '2.0', id: 1, result: 300 }]);
  });

  test('that stays when its input has ended is ended', async () => {
    const agent = scratch.write('staying.mjs', 'setInterval(() => {}, 1000);');
    expect((await around(agent, [], { options: ['--grace', '100ms'] })).code).toBe(143);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)(
    'gets %s, and so does what it has started',
    async (signal) => {
      // The agent stays of its own: both get the signal, and the end of the other may be told to it first.
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
    },
  );

  test.each(['an end of its input', 'SIGTERM'] as const)(
    'ends after %s, though nobody reads what it says',
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

  test('goes on when nobody reads its log any more', async () => {
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

  test('a flood of junk is told as far as it says something', async () => {
    const ran = await around(minimalAgent(), [`${'junk\n'.repeat(3000)}${json(request(1, 'echo', []))}`]);
    expect(ran.stderr.split('\n').length).toBeLessThan(110);
    expect(ran.stderr).toContain('No more are reported until a message arrives.');
    expect(linesOf(ran).at(-1)).toEqual({ jsonrpc: '2.0', id: 1, result: [] });
  });

  test('that cannot be started is told, with exit code 2', async () => {
    const child = start([...PROGRAM, 'acp', 'run', '--', path.join(scratch.path, 'no-such-agent')], {
      stdin: '',
    });
    const { code, stdout, stderr } = await ended(child);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error\[[\w-]+\]: .*no-such-agent could not be started: there is no such program/);
  });
});

describe('wrong usage', () => {
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
