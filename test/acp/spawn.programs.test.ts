/** Agents in child processes, well-behaved and misbehaving. The programs do not use pegwire. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, test } from 'vitest';
import { type Agent, ConnectionError, launchAgent, type SpawnOptions, spawnAgent } from '../../src/acp/index.js';
import { gone, isAlive } from '../helpers/alive.js';
import { compiled } from '../helpers/cli.js';

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-spawn-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The beginning of all programs: `lines` calls a function with each line of stdin, and `say` writes a line. */
const PRELUDE = `
const say = (value) => process.stdout.write((typeof value === 'string' ? value : JSON.stringify(value)) + '\\n');
const answer = (id, result = null) => ({ jsonrpc: '2.0', id, result });
let rest = '';
const lines = (line) => process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const all = (rest + chunk).split('\\n');
  rest = all.pop();
  for (const one of all) line(one, JSON.parse(one));
});
`;

/** Starts an agent with the given code. */
const program = (code: string, options: SpawnOptions = {}): Promise<Agent> =>
  spawnAgent(process.execPath, ['--eval', PRELUDE + code], { exitGraceMs: 5000, killGraceMs: 5000, ...options });

/** Ignores responses, such as errors about invalid lines. */
const ECHO = 'lines((_, { id, method, params }) => { if (method) say(answer(id, params)); });';

describe('C01: starting an agent', () => {
  test.each([
    ['there is no such program', 'no-such-program-at-all', {}],
    ['the folder does not exist', process.execPath, { cwd: '/no/such/folder' }],
    ['the file is not a program', '/etc/passwd', {}],
    ['the name contains a null character', 'a\0b', {}],
  ])('rejects if %s', async (_, command, options) => {
    await expect(spawnAgent(command, [], options)).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'spawn-failed',
    });
  });

  test('passes arguments unchanged, without a shell', async () => {
    const args = ['$HOME', '; echo no', '`id`', '*', 'with space', "'", ''];
    const agent = await spawnAgent(process.execPath, [
      '--eval',
      `${PRELUDE}lines((_, { id }) => say(answer(id, process.argv.slice(1))));`,
      '--',
      ...args,
    ]);
    expect(await agent.request('args')).toEqual(args);
    await agent.close();
  });

  test('passes the working directory and the environment', async () => {
    const agent = await program('lines((_, { id }) => say(answer(id, [process.cwd(), process.env.A])));', {
      cwd: folder,
      env: { ...process.env, A: 'b' },
    });
    expect(await agent.request('where')).toEqual([expect.stringContaining(path.basename(folder)), 'b']);
    await agent.close();
  });

  test.each([
    ['exitGraceMs', { exitGraceMs: -1 }],
    ['stderr', { stderr: 'captured' as never }],
    ['maxBatch', { maxBatch: 0 }],
    ['maxLineBytes', { maxLineBytes: 0 }],
  ])('rejects an invalid %s, and leaves no process', async (name, options) => {
    const listeners = process.listenerCount('exit');
    await expect(program(ECHO, options)).rejects.toThrow(name);
    expect(process.listenerCount('exit')).toBe(listeners);
  });

  test.each(['before', 'while it starts'])(
    'rejects if its signal is aborted %s, and leaves no process',
    async (when) => {
      const listeners = process.listenerCount('exit');
      const controller = new AbortController();
      if (when === 'before') controller.abort(new Error('aborted'));
      const agent = program(ECHO, { signal: controller.signal });
      controller.abort(new Error('aborted'));
      await expect(agent).rejects.toThrow('aborted');
      expect(process.listenerCount('exit')).toBe(listeners);
    },
  );
});

describe('C02: the stderr of an agent', () => {
  const FLOOD = `process.stderr.write('é'.repeat(512 * 1024) + 'last words', () => { ${ECHO} });`;

  test.each(['capture', 'ignore'] as const)('%s: a megabyte does not block the agent', async (stderr) => {
    const agent = await program(FLOOD, { stderr });
    expect(await agent.request('echo', ['a'])).toEqual(['a']);
    await agent.close();
    expect(agent.stderr.length).toBe(64 * 1024);
    expect(agent.stderr.endsWith('last words')).toBe(true);
  });

  test('is passed to a function in whole characters', async () => {
    let log = '';
    const agent = await program(FLOOD, { stderr: (text) => (log += text) });
    await agent.request('echo');
    await agent.close();
    expect(log).toBe(`${'é'.repeat(512 * 1024)}last words`);
  });

  test('is forwarded to this process', async () => {
    const code = `import { spawnAgent } from '${compiled('src/acp/index.ts')}';
      const agent = await spawnAgent(process.execPath, ['--eval', 'process.stderr.write("hello from the agent")'], { stderr: 'forward' });
      await agent.exited; await agent.close();`;
    const host = await spawnAgent(process.execPath, ['--input-type=module', '--eval', code]);
    await host.exited;
    await host.closed;
    await host.close();
    expect(host.stderr).toContain('hello from the agent');
  });
});

describe('messages over the pipes', () => {
  test('C03: every line is one message or one batch', async () => {
    const agent = await program(
      "const all = []; lines((line, value) => { all.push(line); if (value.method === 'all') say(answer(value.id, all)); else for (const one of [value].flat()) if (one.id) say(answer(one.id)); });",
    );
    await agent.request('a', ['\n\u2028\r']);
    await agent.notify('b');
    await agent.batch([{ method: 'c' }, { method: 'd', notification: true }]);
    const controller = new AbortController();
    const aborted = agent.request('e', undefined, { signal: controller.signal }).catch(() => undefined);
    controller.abort();
    await aborted;
    const lines = (await agent.request('all')) as string[];
    expect(lines).toHaveLength(6);
    for (const line of lines) {
      const messages = [JSON.parse(line)].flat();
      expect(messages.length).toBeGreaterThan(0);
      for (const message of messages) expect(message).toMatchObject({ jsonrpc: '2.0', method: expect.any(String) });
    }
    await agent.close();
  });

  test('C04: invalid and blank lines are reported, and the connection stays open', async () => {
    const errors: ConnectionError[] = [];
    const agent = await program(
      `say('Welcome to the agent!'); say(''); say('{"half":'); process.stdout.write(Buffer.from([0xff, 0x0a])); say('[]'); ${ECHO}`,
      { onError: (error) => errors.push(error) },
    );
    expect(await agent.request('echo', [1])).toEqual([1]);
    await agent.close();
    expect(errors.map(({ code }) => code)).toEqual(errors.map(() => 'not-a-message').concat());
    expect(errors.map(({ received }) => received)).toContain('Welcome to the agent!');
    expect(errors.length).toBeGreaterThanOrEqual(4);
  });

  test.each([
    ['in reverse', 'say(batch.reverse().map(({ id }) => answer(id, id)))'],
    ['on separate lines', 'for (const { id } of batch) say(answer(id, id))'],
    ['twice', 'const all = batch.map(({ id }) => answer(id, id)); say(all); say(all)'],
    ['with CRLF', "say(JSON.stringify(batch.map(({ id }) => answer(id, id))) + '\\r')"],
    [
      'one byte at a time',
      "const bytes = Buffer.from(JSON.stringify(batch.map(({ id }) => answer(id, id))) + '\\n'); let at = 0; const next = () => { if (at < bytes.length) process.stdout.write(bytes.subarray(at, ++at), next); }; next()",
    ],
  ])('C05: responses to a batch are matched if they arrive %s', async (_, how) => {
    const agent = await program(`lines((_, batch) => { ${how} });`);
    const outcomes = await agent.batch([{ method: 'a' }, { method: 'b' }, { method: 'c' }]);
    expect(outcomes).toMatchObject([{ value: 1 }, { value: 2 }, { value: 3 }]);
    await agent.close();
  });

  test('C06: batches of the agent are answered by the same rules', async () => {
    const agent = await program(
      `say([{ jsonrpc: '2.0', id: 'a', method: 'name' }, { jsonrpc: '2.0', method: 'note' }, 1]); say([]); say([{ jsonrpc: '2.0', method: 'note' }]);
       const heard = []; let id; lines((_, value) => { if (value.method === 'heard') id = value.id; else heard.push(value); if (id && heard.length === 2) say(answer(id, heard)); });`,
      { handlers: { name: () => 'client', note: () => {} } },
    );
    const heard = (await agent.request('heard')) as unknown[];
    expect(heard).toMatchObject([
      [
        { id: 'a', result: 'client' },
        { id: null, error: { code: -32600 } },
      ],
      { id: null, error: { code: -32600 } },
    ]);
    await agent.close();
  });

  test('C07: an agent that rejects batches with one error leaves no call pending', async () => {
    const agent = await program(
      "lines((_, value) => say(Array.isArray(value) ? { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no batches' } } : answer(value.id, 1)));",
    );
    expect(await agent.batch([{ method: 'a' }, { method: 'b' }])).toMatchObject([
      { reason: { code: 'batches-refused' } },
      { reason: { code: 'batches-refused' } },
    ]);
    expect(await agent.request('a')).toBe(1);
    await agent.close();
  });

  test('C12: responses and notifications are delivered in order at any rate', async () => {
    const seen: unknown[] = [];
    let last!: () => void;
    const all = new Promise<void>((resolve) => {
      last = resolve;
    });
    const agent = await program(
      "lines((_, { id }) => { let all = ''; for (let n = 0; n < 100; n++) all += JSON.stringify({ jsonrpc: '2.0', method: 'n', params: [n] }) + '\\n'; process.stdout.write(all + JSON.stringify(answer(id, 'done')) + '\\n' + JSON.stringify({ jsonrpc: '2.0', method: 'n', params: [100] }) + '\\n'); });",
      {
        handlers: {
          n: ([n]: [number]) => {
            seen.push(n);
            if (n === 100) last();
          },
        },
      },
    );
    seen.push(await agent.request('go'));
    await all;
    await agent.close();
    expect(seen).toEqual([...Array.from({ length: 100 }, (_, n) => n), 'done', 100]);
  });
});

describe('C09: an agent exits', () => {
  test.each([
    [
      'by itself, with a code',
      'process.exitCode = 3; process.stderr.write("out of memory"); process.stdin.destroy();',
      /exit code 3.*out of memory/s,
    ],
    ['by a signal', 'process.kill(process.pid, "SIGKILL");', /SIGKILL/],
    ['with 0', 'process.exit(0);', /closed/],
  ])('%s: all pending calls reject with a ConnectionError', async (_, how, message) => {
    const agent = await program(`lines(() => { ${how} });`);
    const calls = [
      agent.request('a'),
      agent.request('b'),
      agent.batch([{ method: 'c' }]).then(([one]) => Promise.reject((one as PromiseRejectedResult).reason)),
    ];
    const errors = (await Promise.allSettled(calls)).map(
      (one) => (one as PromiseRejectedResult).reason as ConnectionError,
    );
    for (const error of errors) {
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({ code: 'closed', message: expect.stringMatching(message) });
    }
    await expect(agent.request('later')).rejects.toMatchObject({ code: 'closed' });
    await agent.close();
  });

  test('in the middle of a line: complete lines are read, the truncated one is not', async () => {
    const agent = await program(
      "let n = 0; lines((_, { id }) => { if (++n < 3) return; process.stdout.write(JSON.stringify(answer(1, 'one')) + '\\n' + JSON.stringify(answer(2, 'two')) + '\\n' + '{\"jsonrpc\":\"2.0\",\"id\":3,\"res', () => process.exit(1)); });",
    );
    const [one, two, three] = await Promise.allSettled([agent.request('a'), agent.request('b'), agent.request('c')]);
    expect([one, two, three]).toMatchObject([{ value: 'one' }, { value: 'two' }, { reason: { code: 'closed' } }]);
    await agent.close();
  });

  test('after a response without a line end, which is read', async () => {
    const agent = await program(
      'lines((_, { id }) => process.stdout.write(JSON.stringify(answer(id, 1)), () => process.exit(0)));',
    );
    expect(await agent.request('a')).toBe(1);
    await agent.close();
  });

  test('while a process that it started holds its output open: calls reject nevertheless', async () => {
    const agent = await program(
      "require('node:child_process').spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'], { stdio: ['ignore', 'inherit', 'inherit'] }).unref(); lines(() => process.exit(7));",
      { exitGraceMs: 100, killGraceMs: 5000 },
    );
    await expect(agent.request('a')).rejects.toMatchObject({ message: expect.stringContaining('exit code 7') });
    await agent.close();
  });

  test('before it has read its input: the error has the exit status, not the broken pipe', async () => {
    const agent = await program('process.stdin.destroy(); process.stderr.write("no licence", () => process.exit(4));');
    const big = ['x'.repeat(1024 * 1024)];
    const outcomes = await Promise.allSettled([agent.request('a', big), agent.request('b', big)]);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({
        reason: { code: 'closed', message: expect.stringMatching(/exit code 4.*no licence/s) },
      });
    expect(await agent.closed).toMatchObject({ message: expect.stringContaining('exit code 4') });
    await agent.close();
  });

  test('after it closed its input: responses that it sent before are read', async () => {
    const agent = await program(
      `lines((_, { id }) => { process.stdin.destroy(); setTimeout(() => { say(answer(id, 'x'.repeat(100_000))); process.exitCode = 1; }, 100); });`,
    );
    const first = agent.request('a');
    const more = setInterval(() => void agent.notify('more', ['x'.repeat(100_000)]).catch(() => undefined), 5);
    expect(await first).toHaveLength(100_000);
    clearInterval(more);
    await agent.close();
  });

  test('and leaves no listeners in the host', async () => {
    const listeners = process.listenerCount('exit');
    const agent = await program('process.exit(0);');
    await agent.exited;
    await agent.closed;
    expect(process.listenerCount('exit')).toBe(listeners);
    expect(await agent.close()).toEqual({ code: 0, signal: null });
  });
});

describe('C10: closing an agent', () => {
  test('does not break the pipe of an agent that still writes', async () => {
    const agent = await program(
      `process.stdin.resume().on('end', () => setTimeout(() => { for (let n = 0; n < 3; n++) process.stdout.write('{}\\n'.repeat(100_000)); }, 50));`,
    );
    expect(await agent.close()).toEqual({ code: 0, signal: null });
    expect(agent.stderr).toBe('');
  });

  test('returns the exit code of an agent that exits with its input', async () => {
    const agent = await program(`${ECHO} process.stdin.on('end', () => { process.exitCode = 5; });`);
    expect(await agent.close()).toEqual({ code: 5, signal: null });
    expect(await agent.close()).toEqual({ code: 5, signal: null });
  });

  test('sends SIGTERM to an agent that does not exit', async () => {
    const agent = await program('setInterval(() => {}, 1000); say(answer(1));', { exitGraceMs: 100 });
    await agent.request('ready');
    expect(await agent.close()).toEqual({ code: null, signal: 'SIGTERM' });
  });

  test('sends SIGKILL to an agent that ignores SIGTERM', async () => {
    const agent = await program("process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); say(answer(1));", {
      exitGraceMs: 100,
      killGraceMs: 100,
    });
    await agent.request('ready');
    expect(await agent.close()).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('ends an agent behind a wrapper, even if the wrapper has exited', async () => {
    const agentCode = "process.on('SIGHUP', () => {}); setInterval(() => {}, 1000);";
    for (const wrapper of [
      'lines(() => {});',
      'lines((_, { id }) => { say(answer(id, child.pid)); process.stdin.destroy(); });',
    ]) {
      const agent = await program(
        `const child = require('node:child_process').spawn(process.execPath, ['--eval', ${JSON.stringify(agentCode)}], { stdio: 'ignore' }); child.unref(); say(answer(1, child.pid)); ${wrapper}`,
        { exitGraceMs: 300 },
      );
      const pid = (await agent.request('pid')) as number;
      expect(isAlive(pid)).toBe(true);
      await agent.close();
      await gone(pid);
    }
  });

  test('happens when the signal is aborted', async () => {
    const controller = new AbortController();
    const agent = await program(ECHO, { signal: controller.signal });
    controller.abort();
    expect(await agent.exited).toEqual({ code: 0, signal: null });
    await agent.close();
  });

  test('happens when the host exits', async () => {
    const code = `import { spawnAgent } from '${compiled('src/acp/index.ts')}';
      const agent = await spawnAgent(process.execPath, ['--eval', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);']);
      process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: 1, result: agent.pid }) + '\\n', () => process.exit(0));`;
    const host = await spawnAgent(process.execPath, ['--input-type=module', '--eval', code]);
    const pid = (await host.request('pid')) as number;
    await gone(pid);
    await host.close();
  });
});

describe('C11: an agent that never reads', () => {
  test('makes senders wait, and calls beyond the backlog reject', async () => {
    const agent = await program('process.stdin.pause(); setInterval(() => {}, 1000);', {
      maxBacklog: 256 * 1024,
      exitGraceMs: 100,
    });
    const params = ['x'.repeat(64 * 1024)];
    let isWaiting = false;
    const waiting = (async () => {
      for (let n = 0; n < 100 && !isWaiting; n++) {
        const sent = agent.notify('a', params);
        const first = await Promise.race([
          sent.then(() => 'sent'),
          new Promise((resolve) => setTimeout(resolve, 200, 'waits')),
        ]);
        if (first === 'waits') isWaiting = true;
      }
    })();
    await waiting;
    expect(isWaiting).toBe(true);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => agent.notify('a', params).catch((error) => Promise.reject(error.code))).map(
        (one) => Promise.race([one, new Promise((resolve) => setTimeout(resolve, 100))]),
      ),
    );
    expect(outcomes).toContainEqual({ status: 'rejected', reason: 'backlog-full' });
    await agent.close();
  });
});

test('launchAgent returns the channel of an agent', async () => {
  const agent = await launchAgent(process.execPath, ['--eval', PRELUDE + ECHO]);
  const received = new Promise<string>((resolve) => {
    agent.channel.start({ text: resolve, invalid: () => {}, tooLong: () => {}, ended: () => {} });
  });
  agent.channel.send('{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}');
  expect(JSON.parse(await received)).toEqual({ jsonrpc: '2.0', id: 1, result: [1] });
  expect(await agent.close()).toEqual({ code: 0, signal: null });
});

test('a channel that is started late delivers earlier output, even of an agent that has exited', async () => {
  const agent = await launchAgent(process.execPath, ['--eval', `${PRELUDE}say(answer(1)); process.exitCode = 2;`]);
  await agent.exited;
  // Node discards the streams of a process that has exited; a channel keeps them.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const received: unknown[] = [];
  const end = await new Promise((resolve) => {
    agent.channel.start({ text: (text) => received.push(text), invalid: () => {}, tooLong: () => {}, ended: resolve });
  });
  expect(received).toEqual(['{"jsonrpc":"2.0","id":1,"result":null}']);
  expect(end).toMatchObject({ code: 'closed', message: expect.stringContaining('exit code 2') });
  await agent.close();
});
