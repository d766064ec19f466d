import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseFrame, tryParseFrame } from '../../../../src/accp/index.js';
import { loadTokenCounter } from '../../../../src/tokens/load-counter.js';
import { cli, jsonLines, scratchFolder } from '../../../helpers/cli.js';
import { decode, encode, FIND, framesOf, messagesOf } from '../../session/sessions.js';

const scratch = scratchFolder();

describe('encode accp', () => {
  test('prints one numbered frame per message, and counts to stderr', async () => {
    const { code, stdout, stderr } = await encode(
      [FIND, { ...FIND, agent: 'planner' }],
      '--id',
      's1',
      '--now',
      '1970-01-01T00:16:40Z',
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^@sender>req:find\{q:cats\}\[mid:[a-f][0-9]{11},seq:1,ts:1000,sid:s1\]\n@planner>req:find\{q:cats\}\[mid:[a-f][0-9]{11},seq:2,ts:1000,sid:s1\]\n$/,
    );
    expect(stderr).toMatch(/^2 messages, 0 rejected; 2 frames, about \d+ tokens/);
  });

  test('uses --agent for messages without an agent', async () => {
    expect(await framesOf([FIND], '--agent', 'planner')).toEqual([expect.stringMatching(/^@planner>/)]);
  });

  test('encodes a JSON string as a chat message', async () => {
    const [frame] = await framesOf(['"Hello there"'], '--text', 'transliterate');
    expect(parseFrame(frame!)).toMatchObject({ operation: 'chat' });
    expect(await messagesOf([frame!], '--text', 'transliterate')).toMatchObject([
      { schema: 'CH', payload: { content: 'Hello there' } },
    ]);
  });

  test('keeps the identifiers and time of an envelope, but not its number and session', async () => {
    const envelope = {
      msg_id: 'a00000000001',
      sequence: 7,
      timestamp: 5,
      correlation_id: 'c1',
      causation_id: 'k1',
      session_id: 'other',
      ttl: 60,
    };
    const [frame] = await framesOf([{ ...FIND, envelope }], '--id', 's1');
    expect(frame).toBe('@sender>req:find{q:cats}[mid:a00000000001,seq:1,ts:5,cid:c1,aid:k1,sid:s1,ttl:60]');
  });

  test('--keep-envelope checks the number and session of a message', async () => {
    const envelope = { sequence: 1, session_id: 's1' };
    expect((await encode([{ ...FIND, envelope }], '--keep-envelope', '--id', 's1')).code).toBe(0);
    const wrong = await encode([{ ...FIND, envelope: { sequence: 2 } }], '--keep-envelope', '--id', 's1');
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toContain('error[E3003]: envelope.sequence: ');
    const foreign = await encode([{ ...FIND, envelope }], '--keep-envelope', '--id', 's2');
    expect(foreign.stderr).toContain('error[E5001]: envelope.session_id: ');
  });

  test('--sequence sender counts per agent', async () => {
    const frames = await framesOf([FIND, { ...FIND, agent: 'planner' }, FIND], '--sequence', 'sender');
    expect(frames.map((frame) => /seq:(\d+)/.exec(frame)![1])).toEqual(['1', '1', '2']);
  });

  test('--json prints all results, one document per line', async () => {
    const { code, stdout, stderr } = await encode([FIND, { ...FIND, intent: 'shout' }], '--json', '--id', 's1');
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const [ok, refused] = jsonLines(stdout) as { frames: string[]; msgId: string }[];
    expect(ok).toEqual({
      line: 1,
      ok: true,
      frames: [expect.stringMatching(/^@sender>req:find/)],
      msgId: /mid:(\w+)/.exec(ok!.frames[0]!)![1],
      correlationId: ok!.msgId,
      losses: [],
      warnings: expect.any(Array),
      tokens: {
        header: expect.any(Number),
        body: expect.any(Number),
        metadata: expect.any(Number),
        total: expect.any(Number),
        exact: false,
      },
    });
    expect(refused).toMatchObject({ line: 2, ok: false, error: { code: 'E1002', path: 'intent' } });
  });

  test('--encoding counts exactly', async () => {
    const { stdout } = await encode([FIND], '--json', '--encoding', 'cl100k_base');
    const [{ frames, tokens }] = jsonLines(stdout) as [{ frames: string[]; tokens: { total: number } }];
    const { count } = await loadTokenCounter('cl100k_base');
    expect(tokens).toMatchObject({ total: count(frames[0]!), exact: true });
  });

  test('a message that is too long for a frame is split', async () => {
    const payload = { rows: Array.from({ length: 60 }, (_, index) => ({ id: index, name: `item_${index}` })) };
    const frames = await framesOf([{ ...FIND, payload }], '--no-state');
    expect(frames.length).toBeGreaterThan(1);
    expect(await messagesOf(frames, '--no-state')).toMatchObject([{ payload }]);
  });

  test('--no-state makes no checkpoints', async () => {
    const done = { ...FIND, intent: 'done' };
    expect((await encode([done])).stderr).toContain('checkpoint ckpt_1 (done)');
    expect((await encode([done], '--no-state')).stderr).not.toContain('checkpoint');
  });
});

describe('numbers', () => {
  const BIG = '123456789012345678901234567890';

  test('integers of any size keep all of their digits', async () => {
    const line = `{"intent":"req","operation":"x","payload":{"n":[${BIG},-9007199254740993,9007199254740991],"s":"9007199254740993"}}`;
    const frames = await framesOf([line], '--text', 'transliterate');
    expect(frames[0]).toContain(`n:[${BIG},-9007199254740993,9007199254740991]`);
    const { stdout } = await decode(frames[0]!, '--text', 'transliterate');
    expect(stdout).toContain(`"n":[${BIG},-9007199254740993,9007199254740991],"s":"9007199254740993"`);
  });

  test('an integer of more than 1,000 digits is rejected with its path', async () => {
    const line = `{"intent":"req","operation":"x","payload":{"deep":[{"n":${'9'.repeat(2000)}}]}}`;
    const { code, stderr } = await encode([line]);
    expect(code).toBe(1);
    expect(stderr).toContain('error[E1004]: payload.deep[0].n: has 2000 digits');
  });

  test.each([
    ['more places than six', '0.1234567', 'rounded]: payload.n was rounded to 6 decimal places: 0.1234567 -> 0.123457'],
    ['more digits than a double', '0.30000000000000000001', 'precision]: payload.n lost digits'],
    ['a minus before zero', '-0', 'negative-zero]: payload.n lost its sign: -0 -> 0'],
  ])('%s are reported', async (_what, digits, expected) => {
    const { code, stderr } = await encode([`{"intent":"req","operation":"x","payload":{"n":${digits}}}`]);
    expect(code).toBe(0);
    expect(stderr).toContain(`stdin:1: warning[${expected}`);
  });

  test.each(['1234567890123.123456', '0.1000000000000000055511151231257827', '9007199254740993.5'])(
    'an amount of a transaction is rejected if a double does not keep it: %s',
    async (digits) => {
      for (const name of ['amount', 'amt']) {
        const payload = `{"transaction_id":"t1","${name}":${digits},"currency":"EUR"}`;
        const { code, stdout, stderr } = await encode([
          `{"intent":"req","operation":"transaction","schema":"TX","payload":${payload}}`,
        ]);
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
        expect(stderr).toContain('error[E1004]: payload.amount: An amount can have');
      }
    },
  );

  test('a number beyond the range of doubles is rejected with its path', async () => {
    const { code, stderr } = await encode(['{"intent":"req","operation":"x","payload":{"n":1e400}}']);
    expect(code).toBe(1);
    expect(stderr).toContain('error[E1004]: payload.n: ');
  });
});

describe('{"$ref": ...} in the input', () => {
  const message = { ...FIND, payload: { source: { $ref: 'cold.sales_db' } } };

  test('is data without --refs', async () => {
    const { code, stderr } = await encode([message]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error\[E1004\]: payload\.\w+\["\$ref"\]: /);
    const [frame] = await framesOf([message], '--text', 'transliterate');
    expect(await messagesOf([frame!], '--text', 'transliterate')).toMatchObject([{ payload: message.payload }]);
  });

  test('is a reference with --refs', async () => {
    const [frame] = await framesOf([message], '--refs');
    expect(frame).toContain('{src:$cold.sales_db}');
  });

  test('is rejected with its path if it is invalid', async () => {
    const { stderr } = await encode([{ ...FIND, payload: { list: [{ $ref: 'not a path' }] } }], '--refs');
    expect(stderr).toContain('error[E1004]: payload.list[0]: Invalid path of a reference: "not a path"');
  });
});

describe('a key that appears twice in an object', () => {
  const message = (payload: string): string => `{"intent":"req","operation":"x","payload":${payload}}`;

  test.each([
    [message('{"a":1,"a":2}'), 'payload.a'],
    [message('{"a":1,"a":1}'), 'payload.a'],
    [message('{"list":[{"b":1},{"c":[],"b":2,"c" : {}}]}'), 'payload.list[1].c'],
    [message('{"m":{"x":{"k":1,"\\u006b":2}}}'), 'payload.m.x.k'],
    ['{"intent":"req","intent":"done","operation":"x"}', 'intent'],
    [message('{"__proto__":1,"__proto__":2}'), 'payload.__proto__'],
    [message('{"a b":1,"a b":2}'), 'payload["a b"]'],
  ])('is rejected with its path, and nothing is dropped: %s', async (line, path) => {
    const { code, stdout, stderr } = await encode([line]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`error[E1004]: ${path}: the key appears twice`);
  });

  test('is shortened if it is long', async () => {
    const key = 'k'.repeat(100_000);
    const { code, stderr } = await encode([message(`{"${key}":1,"${key}":2}`)]);
    expect(code).toBe(1);
    expect(stderr.length).toBeLessThan(1000);
  });

  test('must be in the same object', async () => {
    const line = message('{"a":{"a":1},"b":[{"a":2},{"a":3}],"c":"x_1"}');
    expect((await encode([line])).code).toBe(0);
    const text = message('{"c":"\\"a\\":1,\\"a\\":2","d":"{}:,"}');
    expect((await encode([text], '--text', 'transliterate')).code).toBe(0);
  });
});

describe('an invalid message is rejected, and the next one is encoded', () => {
  test.each([
    ['no JSON', '{"intent":', 'not-json', 'The line is not JSON'],
    ['a number', '42', 'E1004', 'A message must be an object'],
    ['a list', '[]', 'E1004', 'A message must be an object'],
    ['no intent', '{"operation":"x"}', 'E1004', 'intent: '],
    ['a payload that is none', '{"intent":"req","operation":"x","payload":[1]}', 'E1004', 'payload: must be an object'],
    ['a member that is unknown', '{"intent":"req","operation":"x","body":{}}', 'E1004', '"body"'],
    [
      'a time that is none',
      '{"intent":"req","operation":"x","envelope":{"timestamp":-1}}',
      'E1004',
      'envelope.timestamp: ',
    ],
    ['an unknown intent', '{"intent":"shout","operation":"x"}', 'E1002', 'intent: unknown intent "shout"'],
    [
      'text that a frame cannot hold',
      '{"intent":"req","operation":"x","payload":{"a":{"b":"c d"}}}',
      'E1004',
      'payload.a.b: ',
    ],
  ])('%s', async (_what, line, code, expected) => {
    const { code: exit, stdout, stderr } = await encode([line, FIND]);
    expect(exit).toBe(1);
    expect(stdout).toMatch(/^@sender>req:find\{q:cats\}\[mid:\w+,seq:1,[^\n]*\n$/);
    expect(stderr).toContain(`error[${code}]: `);
    expect(stderr).toContain(expected);
    expect(stderr).toContain('--> stdin:1:');
    expect(stderr).toContain('2 messages, 1 rejected; 1 frame');
  });

  test('hostile keys and depths', async () => {
    const deep = `{"intent":"req","operation":"x","payload":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`;
    const hostile = '{"intent":"req","operation":"x","payload":{"__proto__":{"polluted":true},"constructor":1}}';
    const { stdout, stderr } = await encode([deep, hostile], '--text', 'transliterate');
    expect(stderr).toContain('error[E1004]: payload.a[0]');
    expect(await messagesOf([stdout.trim()], '--text', 'transliterate')).toHaveLength(1);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('an empty input', async () => {
    expect(await encode([])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'error[empty]: The input is empty; expected at least one message.\n',
    });
  });
});

describe('--session', () => {
  test('continues the session of the file', async () => {
    const file = path.join(scratch.path, 'sprint14.db');
    const [first] = await framesOf([FIND], '--session', file);
    const [second] = await framesOf([FIND], '--session', file);
    expect(first).toMatch(/seq:1,.*sid:sprint14\]$/);
    expect(second).toMatch(/seq:2,.*sid:sprint14\]$/);
  });

  test('an identifier of an earlier run is rejected', async () => {
    const file = path.join(scratch.path, 'ids.db');
    const message = { ...FIND, envelope: { msg_id: 'a00000000001' } };
    await framesOf([message], '--session', file);
    expect((await encode([message], '--session', file)).stderr).toContain('error[E3002]: envelope.msg_id: ');
  });

  test('stores several sessions, by --id, and the endpoints of several agents', async () => {
    const file = path.join(scratch.path, 'many.db');
    for (const [id, agent] of [
      ['a', 'x'],
      ['b', 'x'],
      ['a', 'y'],
    ] as const) {
      const [frame] = await framesOf([FIND], '--session', file, '--id', id, '--agent', agent);
      expect(frame).toContain('seq:1,');
    }
    const [frame] = await framesOf([FIND], '--session', file, '--id', 'a', '--agent', 'x');
    expect(frame).toContain('seq:2,');
  });

  test('continues the session used last, whatever the name of the file', async () => {
    const file = path.join(scratch.path, 'last.db');
    await framesOf([FIND], '--session', file, '--id', 'first');
    await framesOf([FIND], '--session', file, '--id', 'second');
    await framesOf([FIND], '--session', file, '--id', 'third', '--agent', 'other');
    expect((await framesOf([FIND], '--session', file))[0]).toMatch(/seq:2,.*sid:second\]$/);
  });

  test('nothing is stored without it', async () => {
    await framesOf([FIND], '--id', 'gone');
    expect((await framesOf([FIND], '--id', 'gone'))[0]).toContain('seq:1,');
    expect(existsSync('gone')).toBe(false);
  });
});

describe('incorrect usage', () => {
  test.each([
    [['encode'], /^error\[[\w-]+\]: encode requires a protocol: accp or aacp/],
    [
      ['encode', 'accp', '--english', 'x'],
      /^error\[[\w-]+\]: --english does not apply to accp; it is an option of pegwire encode aacp/,
    ],
    [['encode', 'accp', '--agent', 'a b'], /^error\[[\w-]+\]: Invalid agent name "a b"/],
    [['encode', 'accp', '--id', 'a b'], /^error\[[\w-]+\]: id must be 1 to 256 visible ASCII characters/],
    [['encode', 'accp', '--now', 'today'], /^error\[[\w-]+\]: --now must be an ISO 8601 time/],
    [['encode', 'accp', '--text', 'transliterat'], /did you mean "transliterate"\?/],
    [
      ['encode', 'accp', '--session', 'test/cli/commands/encode/frames.test.ts'],
      /^error\[[\w-]+\]: .*frames\.test\.ts/,
    ],
    [['encode', 'accp', '--session', 'no/such/folder/x.db'], /^error\[[\w-]+\]: /],
  ] as const)('%j', async (args, expected) => {
    const { code, stdout, stderr } = await cli(args, { stdin: JSON.stringify(FIND) });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(expected);
  });

  test('a session that counts differently', async () => {
    const file = path.join(scratch.path, 'counts.db');
    await framesOf([FIND], '--session', file);
    const { code, stderr } = await encode([FIND], '--session', file, '--sequence', 'sender');
    expect(code).toBe(2);
    expect(stderr).toContain('has the sequence "session"; got "sender"');
  });
});

test('all output frames are frames of the strict dialect', async () => {
  const payloads = [
    { a: 'x y' },
    { 'b-c': [1, null, true] },
    { c: { d: { e: { f: { g: { h: 'deep' } } } } } },
    { ä: 'ß' },
  ];
  const frames = await framesOf(
    payloads.map((payload) => ({ ...FIND, payload })),
    '--text',
    'transliterate',
  );
  expect(frames).toHaveLength(payloads.length);
  for (const frame of frames) expect(tryParseFrame(frame).ok).toBe(true);
});

describe.each([
  ['encode', '<accp|aacp>'],
  ['decode', 'accp'],
])('the help page of %s', (command, protocols) => {
  test('names its arguments, fits into 100 columns, and has an example that runs', async () => {
    const { stdout } = await cli([command, '--help']);
    expect(stdout).toContain(`Usage: pegwire ${command} ${protocols} [file|-] [options]\n`);
    expect(stdout).toContain('Integers ');
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
    const [, input, args] = /^ {2}echo '(.*)' \| pegwire (.*)$/m.exec(stdout)!;
    expect((await cli(args!.split(' '), { stdin: input! })).code).toBe(0);
  });
});
