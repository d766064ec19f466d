import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCodec } from '../../../../src/accp/codec/codec.js';
import { createSession } from '../../../../src/accp/session/session.js';
import { type Ended, ended, start } from '../../../helpers/child.js';
import { cli, jsonLines, lines, PROGRAM, scratchFolder } from '../../../helpers/cli.js';
import { type Serving, serving } from './server.js';

const scratch = scratchFolder();
let server: Serving;

beforeAll(async () => {
  server = await serving(PROGRAM);
});

afterAll(async () => {
  await server.stop();
});

/** Runs the command in this process. */
const connect = (url: string, stdin: string, ...args: readonly string[]): Promise<Ended> =>
  cli(['connect', url, ...args], { stdin });

const CALL = { intent: 'req', operation: 'tool', schema: 'TC' };
const call = (tool_name: string, args: object): string =>
  JSON.stringify({ ...CALL, payload: { tool_name, arguments: args } });

/** Removes the parts of frames that differ between runs. */
const heads = (stdout: string): string[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((frame) => frame.slice(0, frame.indexOf('[mid')));

describe.each(['http', 'ws'] as const)('over %s', (scheme) => {
  const url = (): string => server[scheme];

  test('frames, messages and text are sent, and the answers are printed as frames', async () => {
    const input = lines(
      '@me>req:add{a:1}[mid:m1,seq:1]',
      '{"intent":"req","operation":"x","payload":{"list":[1,true,null]}}',
      '"What is up?"',
      'hello you',
    );
    const { code, stdout } = await connect(url(), input);
    expect(code).toBe(0);
    expect(heads(stdout)).toEqual([
      '@pegwire>done:add{a:1}',
      '@pegwire>done:x{list:[1,true,~]}',
      expect.stringMatching(/^@pegwire>done:chat\{role:user\|content:/),
      expect.stringMatching(/^@pegwire>done:chat\{role:user\|content:/),
    ]);
  });

  test('losses are reported', async () => {
    const payload = '{"f":1,"n":0.1000000000000000055511151231257827,"r":0.1234567}';
    const { code, stderr } = await connect(url(), lines(`{"intent":"req","operation":"x","payload":${payload}}`));
    expect(code).toBe(0);
    expect(stderr).toContain('payload.f will be read under its full name: f -> findings');
    expect(stderr).toContain('payload.n lost digits');
    expect(stderr).toContain('payload.r was rounded to 6 decimal places');
  });

  test('with --json each frame is printed with its message', async () => {
    const input = lines(
      'hello you',
      call('upper', { text: 'any text' }),
      '@me>req:big{n:123456789012345678901}[mid:m1,seq:1]',
    );
    const { code, stdout, stderr } = await connect(url(), input, '--json', '--agent', 'tester');
    expect({ code, stderr: stderr.replace(/.*"sent-as-message".*\n/, '') }).toEqual({ code: 0, stderr: '' });
    expect(jsonLines(stdout)).toMatchObject([
      {
        frame: expect.stringMatching(/^@pegwire>done:chat/),
        message: { payload: { role: 'user', content: 'hello you' } },
      },
      { message: { schema: 'TC', payload: { tool_name: 'upper', result: 'ANY TEXT' } } },
      { message: { intent: 'done', operation: 'big', envelope: { correlation_id: 'm1' } } },
    ]);
    expect(stdout).toContain('"n":123456789012345678901}');
  });

  test('a stream is printed frame by frame while the input is open', async () => {
    const child = start([...PROGRAM, 'connect', url()]);
    const over = ended(child);
    let text = '';
    const ends = new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk) => {
        text += chunk;
        if (text.includes('>end:tool')) resolve();
      });
    });
    child.stdin.write(`${call('count', { to: 3, ms: 1 })}\n`);
    await ends;
    child.stdin.end();
    const { code, stdout } = await over;
    expect(code).toBe(0);
    expect(heads(stdout)).toEqual([
      '@pegwire>stream:tool{idx:0|d:1|schema:ST}',
      '@pegwire>stream:tool{idx:1|d:2|schema:ST}',
      '@pegwire>stream:tool{idx:2|d:3|done:true|schema:ST}',
      '@pegwire>end:tool{}',
    ]);
  });

  test('an error frame makes the exit code 1, and the following lines are sent', async () => {
    const { code, stdout } = await connect(url(), lines(call('no_tool', {}), call('add', { a: 1, b: 2 })));
    expect(code).toBe(1);
    expect(heads(stdout)).toEqual([
      expect.stringMatching(/^@pegwire>fail:error\{code:E4001\|/),
      '@pegwire>done:tool{tool:add|res:3|schema:TC}',
    ]);
  });

  test('an invalid line is rejected, and the others are sent', async () => {
    const { code, stdout, stderr } = await connect(
      url(),
      lines('{"intent":', '{"intent":"req"}', '{"intent":"req","operation":"x"}'),
    );
    expect(code).toBe(1);
    expect(heads(stdout)).toEqual(['@pegwire>done:x{}']);
    expect(stderr).toContain('error[not-json]');
    expect(stderr).toContain('error[E1004]');
  });

  test('--explain adds an explanation in English', async () => {
    const { stdout, stderr } = await connect(url(), '@me>req:x{a:1}[mid:m1,seq:1]', '--explain');
    expect(heads(stdout)).toEqual(['@pegwire>done:x{a:1}']);
    expect(stderr).toContain('Agent pegwire reports completion of x (done). Payload: a = 1.');
    const { stdout: explained } = await connect(url(), '@me>req:x{a:1}[mid:m1,seq:1]', '--explain', '--json');
    expect(jsonLines(explained)).toMatchObject([{ explanation: expect.stringContaining('reports completion') }]);
  });

  test('--all prints the frames that maintain the session', async () => {
    const { stdout } = await connect(url(), 'hello', '--all');
    expect(heads(stdout)).toEqual([expect.stringContaining('>sync:registry{'), expect.stringContaining('>done:chat{')]);
  });

  test('a file is read, and a message that requires no answer gets none', async () => {
    const file = scratch.write('input.txt', lines('{"intent":"sync","operation":"note"}', ''));
    expect(await connect(url(), '', file)).toMatchObject({ code: 0, stdout: '' });
    expect(await connect(url(), '')).toMatchObject({ code: 0, stdout: '' });
  });

  test('a missing server and a wrong path are reported with exit code 2', async () => {
    const gone = url().replace(/:[0-9]+\//, ':9/');
    for (const target of [gone, `${url()}/other`]) {
      const { code, stdout, stderr } = await connect(target, 'hello', '--json');
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(jsonLines(stderr).at(-1)).toMatchObject({ error: { code: 'unreachable' } });
    }
  });
});

test('over a WebSocket, a frame becomes a message of the session, which is noted', async () => {
  const { stderr } = await connect(server.ws, '@me>req:x{}[mid:m1,seq:7]');
  expect(stderr).toContain('The frame is sent as a message of this session, with new numbers.');
  expect(stderr).toMatch(/sent: @cli>req:x\{\}\[mid:[^,]+,seq:2,.*cid:m1/);
  const wrong = await connect(server.ws, '@me>req');
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain('error[E1001]: Expected');
});

describe('--raw', () => {
  test('sends lines unchanged over HTTP', async () => {
    const { code, stdout } = await connect(server.http, lines('hello', '@me>req:x{}[mid:m1,seq:1]'), '--raw');
    expect(code).toBe(1);
    expect(heads(stdout)).toEqual([expect.stringMatching(/^@accp>fail:error\{code:E1001\|/), '@pegwire>done:x{}']);
  });

  test('sends lines unchanged over a WebSocket, and prints the registry', async () => {
    const codec = createCodec();
    const session = createSession({ agent: 'me', sequence: 'sender' });
    const registry = codec.announce(session).frames;
    const { frames } = codec.encode({ intent: 'req', operation: 'x' }, session);
    session.close();
    const input = lines(...registry, ...frames);
    const { code, stdout } = await connect(server.ws, input, '--raw');
    expect(code).toBe(0);
    expect(heads(stdout)).toEqual([expect.stringContaining('>sync:registry{'), '@pegwire>done:x{}']);
  });

  test('reports a server that closes the connection', async () => {
    const { code, stdout, stderr } = await connect(server.ws, '@me>req:x{}[mid:m1,seq:1]', '--raw', '--timeout', '5s');
    expect(heads(stdout)).toEqual([expect.stringMatching(/^@accp>fail:error\{code:E1002\|/)]);
    expect(code === 1 || (code === 2 && stderr.includes('1008'))).toBe(true);
  });
});

describe('a server with a token', () => {
  let locked: Serving;
  beforeAll(async () => {
    locked = await serving(PROGRAM, [], { PEGWIRE_TOKEN: 'abc' });
  });
  afterAll(async () => {
    await locked.stop();
  });

  test.each(['http', 'ws'] as const)('requires it over %s', async (scheme) => {
    expect((await connect(locked[scheme], 'hello', '--token', 'abc')).code).toBe(0);
    const refused = await connect(locked[scheme], 'hello', '--token', 'abd');
    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('; check --token'),
    });
    expect(refused.stderr).not.toContain('abd');
  });

  test('accepts it from the environment', async () => {
    const args = [...PROGRAM, 'connect', locked.http];
    expect((await ended(start(args, { stdin: 'hello', env: { PEGWIRE_TOKEN: 'abc' } }))).code).toBe(0);
  });
});

describe('incorrect usage', () => {
  test.each([
    [[], 'connect requires a URL: pegwire connect http://127.0.0.1:4711'],
    [['nowhere'], '"nowhere" is not an address; the forms are ws://HOST:PORT/PATH'],
    [['ftp://a.example'], '"ftp://a.example" is not an address; the forms are ws://HOST:PORT/PATH'],
    [['unix:'], '"unix:" is not an address'],
    [['tcp://127.0.0.1'], '"tcp://127.0.0.1" has no port'],
    [['http://a:b@a.example'], 'The URL must not contain a user name or password'],
    [['http://a:b/c@a.example'], 'Invalid URL "http://***@a.example"'],
    [['http://127.0.0.1:9', 'a', 'b'], 'connect reads one file; remove "b"'],
    [['http://127.0.0.1:9', '--agent', 'a b'], '--agent must be 1 to 256 letters'],
    [
      ['http://127.0.0.1:9', '--timeout', '0'],
      '--timeout must be a duration such as 500ms, 30s, 2m, 1h or 7d, or never; got "0"; write 0s or 0ms',
    ],
    [['http://127.0.0.1:9', '--token', 'a b'], '--token must be visible ASCII characters'],
    [['http://127.0.0.1:9', '/no/such/file'], 'Cannot read /no/such/file'],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await cli(['connect', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});
