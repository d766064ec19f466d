import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createRegistry } from '../../../src/accp/registry/registry.js';
import { cli, jsonLines, lines, program, scratchFolder } from '../../helpers/cli.js';
import { CORPUS, type CorpusMessage, decode, encode, FIND, framesOf, messagesOf } from '../session/sessions.js';

const scratch = scratchFolder();

const ONE = '@a>req:find{q:cats}[mid:m1,seq:1,ts:1000,sid:s1]';
const TWO = '@b>done:find{d:42}[mid:m2,seq:2,ts:1001,cid:m1,sid:s1]';

describe('decode accp', () => {
  test('prints one message per line, with full names', async () => {
    const { code, stdout, stderr } = await decode(lines(ONE, TWO), '--no-state');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '2 frames: 2 messages, 0 pending, 0 rejected, 0 dropped\n' });
    expect(jsonLines(stdout)).toEqual([
      {
        agent: 'a',
        intent: 'req',
        operation: 'find',
        payload: { query: 'cats' },
        envelope: { msg_id: 'm1', sequence: 1, timestamp: 1000, session_id: 's1' },
      },
      {
        agent: 'b',
        intent: 'done',
        operation: 'find',
        payload: { data: 42 },
        envelope: { msg_id: 'm2', sequence: 2, timestamp: 1001, correlation_id: 'm1', session_id: 's1' },
      },
    ]);
  });

  test('--json prints the outcome of each frame', async () => {
    const expired = '@a>req:find{q:dogs}[mid:m2,seq:2,ts:1000,ttl:5,sid:s1]';
    const { code, stdout, stderr } = await decode(
      lines(ONE, expired, '@a>req:x{', ONE),
      '--json',
      '--now',
      '1970-01-01T00:33:20Z',
    );
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(jsonLines(stdout)).toMatchObject([
      { line: 1, outcome: 'message', message: { agent: 'a' }, replies: [], losses: [] },
      { line: 2, outcome: 'dropped', reason: 'expired' },
      {
        line: 3,
        outcome: 'rejected',
        error: { code: 'E1001', span: { start: 9 } },
        reply: expect.stringMatching(/^@receiver>fail:error/),
      },
      { line: 4, outcome: 'rejected', error: { code: 'E3002' } },
    ]);
  });

  test('shows the place of an error', async () => {
    const { code, stdout, stderr } = await decode(lines(ONE, '@a>req:find{q:[1}[mid:m2,seq:2]'));
    expect(code).toBe(1);
    expect(stdout).toMatch(/^\{"agent":"a"[^\n]*\n$/);
    expect(stderr).toContain(lines('error[E1001]: Expected "," or "]", found "}".', ' --> stdin:2:17').split('\n')[1]!);
    expect(stderr).toContain(lines('2 | @a>req:find{q:[1}[mid:m2,seq:2]', '  |                 ^'));
  });

  test('shows the part of a valid frame that is rejected', async () => {
    const gap = '@a>req:find{q:cats}[mid:m2,seq:3,ts:1000]';
    const { stderr } = await decode(lines(ONE, gap));
    expect(stderr).toContain('error[E3003]: ');
    expect(stderr).toContain(lines(`2 | ${gap}`, `  | ${' '.repeat(gap.indexOf('seq'))}^^^^^`));
  });

  test('prints replies to stderr', async () => {
    const { stderr } = await decode(lines(ONE, '@a>req:find{q:cats}[mid:m2,seq:3,ts:1000]'), '--agent', 'me');
    expect(stderr).toMatch(/^stdin:2: reply: @me>fail:error\{code:E3003\|.*expected:2/m);
  });

  test('--replies writes replies to a file', async () => {
    const file = path.join(scratch.path, 'replies.txt');
    const { stderr } = await decode(lines(ONE, '@a>req:find{q:cats}[mid:m2,seq:3,ts:1000]'), '--replies', file);
    expect(stderr).not.toContain('to be sent back');
    expect(readFileSync(file, 'utf8')).toMatch(/^@receiver>fail:error\{code:E3003\|[^\n]*\n$/);
  });

  test('drops expired frames without a reply, and warns', async () => {
    const file = path.join(scratch.path, 'none.txt');
    const { code, stdout, stderr } = await decode(
      '@a>req:x{}[mid:m1,seq:1,ts:1000,ttl:5]',
      '--now',
      '1970-01-01T00:16:46Z',
      '--replies',
      file,
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('stdin:1: warning[expired]: Dropped without a reply');
    expect(readFileSync(file, 'utf8')).toBe('');
    expect((await decode('@a>req:x{}[mid:m1,seq:1,ts:1000,ttl:5]', '--now', '1970-01-01T00:16:45Z')).stdout).not.toBe(
      '',
    );
  });

  test('accepts the lenient dialect with --dialect', async () => {
    const frame = '@a>req:plan{who:@dev_team}[mid:m1,seq:1]';
    expect((await decode(frame)).code).toBe(1);
    expect(await messagesOf([frame], '--dialect', 'lenient')).toMatchObject([{ payload: { target: '@dev_team' } }]);
  });

  test('reads integers of any size, and reports lost digits', async () => {
    const { stdout, stderr } = await decode('@a>req:x{n:123456789012345678901|f:0.12345678901234567890}[mid:m1,seq:1]');
    expect(stdout).toContain('"payload":{"n":123456789012345678901,');
    expect(stderr).toContain('payload.findings lost digits');
  });

  test('an empty input', async () => {
    expect(await decode('\n')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'error[empty]: The input is empty; expected at least one frame.\n',
    });
  });
});

describe('the session', () => {
  test('is that of the first valid frame', async () => {
    const foreign = TWO.replace('sid:s1', 'sid:s2');
    const { stderr } = await decode(lines('noise', ONE, foreign));
    expect(stderr).toContain('error[E5001]: metadata.sid');
    expect(stderr).toContain('3 frames: 0 messages');
  });

  test('is that of --id, whatever the frames contain', async () => {
    expect((await decode(ONE, '--id', 's1')).code).toBe(0);
    expect((await decode(ONE, '--id', 's2')).stderr).toContain('error[E5001]: metadata.sid');
  });

  test('continues in the file of --session', async () => {
    const file = path.join(scratch.path, 'receiver.db');
    expect((await decode(ONE, '--session', file)).code).toBe(0);
    expect((await decode(TWO, '--session', file)).code).toBe(0);
    expect((await decode(ONE, '--session', file)).stderr).toContain('error[E3002]: ');
    expect(existsSync(file)).toBe(true);
  });

  test('is shared by encode and decode with the same agent', async () => {
    const file = path.join(scratch.path, 'both.db');
    const options = ['--session', file, '--id', 's1', '--agent', 'a'];
    const [frame] = await framesOf([FIND], ...options);
    expect(frame).toContain('seq:1,');
    await messagesOf(['@b>done:find{d:1}[mid:m2,seq:2,ts:1,sid:s1]'], ...options);
    expect((await framesOf([FIND], ...options))[0]).toContain('seq:3,');
  });

  test('recovers from a gap: replies go to the sender, and its answers to the receiver', async () => {
    const [sender, receiver] = ['sender.db', 'gap.db'].map((name) => path.join(scratch.path, name));
    const both = ['--id', 's1', '--sequence', 'sender'];
    const send = ['--session', sender!, '--agent', 'a', ...both];
    const receive = ['--session', receiver!, '--agent', 'b', ...both];
    const [replies, resent] = ['to-sender.txt', 'to-receiver.txt'].map((name) => path.join(scratch.path, name));
    const frames = await framesOf(
      [1, 2, 3].map((n) => ({ ...FIND, payload: { n } })),
      ...send,
    );
    const first = await decode(lines(frames[0]!, frames[2]!), ...receive, '--replies', replies!);
    expect(jsonLines(first.stdout)).toMatchObject([{ payload: { n: 1 } }]);
    await decode(readFileSync(replies!, 'utf8'), ...send, '--replies', resent!);
    const again = await decode(readFileSync(resent!, 'utf8'), ...receive);
    expect(jsonLines(again.stdout).filter((one) => (one as CorpusMessage).intent === 'req')).toMatchObject([
      { payload: { n: 2 } },
      { payload: { n: 3 } },
    ]);
  });
});

describe('a message in several frames', () => {
  const payload = { rows: Array.from({ length: 60 }, (_, index) => ({ id: index, name: `item_${index}` })) };

  test('is printed when it is complete', async () => {
    const frames = await framesOf([{ ...FIND, payload }], '--no-state');
    const { code, stdout, stderr } = await decode(lines(...frames), '--no-state');
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toMatchObject([{ payload }]);
    expect(stderr.match(/note\[pending\]: Part of message/g)).toHaveLength(frames.length - 1);
  });

  test('that is incomplete is reported, and lost without --session', async () => {
    const frames = await framesOf([{ ...FIND, payload }], '--no-state', '--id', 's1');
    const { code, stdout, stderr } = await decode(lines(...frames.slice(0, -1)), '--no-state');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error\[unfinished\]: Message \w+ is incomplete\.\n/m);
    const options = ['--no-state', '--session', path.join(scratch.path, 'parts.db')];
    expect((await decode(lines(...frames.slice(0, -1)), ...options)).code).toBe(0);
    expect(await messagesOf(frames.slice(-1), ...options)).toMatchObject([{ payload }]);
  });
});

describe('a stream', () => {
  const chunk = (index: number, final = false): object => ({
    agent: 'w',
    intent: 'stream',
    operation: 'infer',
    schema: 'ST',
    payload: { chunk_index: index, total_chunks: 1100, data: `d${index}`, is_final: final },
    envelope: { correlation_id: 'c1' },
  });

  test('with more chunks than the buffer has is printed', async () => {
    const chunks = Array.from({ length: 1100 }, (_, index) => chunk(index, index === 1099));
    const frames = await framesOf(chunks, '--no-state');
    const messages = await messagesOf(frames, '--no-state');
    expect(messages.map((message) => message.payload['data'])).toEqual(chunks.map((_, index) => `d${index}`));
  });

  test('that has not ended is reported, and lost without --session', async () => {
    const frames = lines(...(await framesOf([chunk(0)])));
    const { code, stderr } = await decode(frames);
    expect(code).toBe(1);
    expect(stderr).toContain('error[unfinished]: Stream c1 has not ended.');
    const stored = await decode(frames, '--session', path.join(scratch.path, 'unended.db'));
    expect(stored.code).toBe(0);
    expect(stored.stderr).toContain('warning[unfinished]: Stream c1 has not ended; the rest may follow.');
  });

  test('that ends without a final chunk fails', async () => {
    const end = { agent: 'w', intent: 'end', operation: 'infer', envelope: { correlation_id: 'c1' } };
    // The codec would not send it.
    await expect(framesOf([chunk(0), end])).rejects.toThrow('cannot be ended without a final chunk');
    const [first] = await framesOf([chunk(0)]);
    const text = lines(first!, first!.replace(/^.*(?=\[)/, '@w>end:infer{}').replace(/mid:\w+,seq:1/, 'mid:m2,seq:2'));
    const { code, stderr } = await decode(text);
    expect(code).toBe(1);
    expect(stderr).toContain('error[E3003]: Stream c1 failed: ');
    const json = await decode(text, '--json');
    expect(json.code).toBe(1);
    expect(jsonLines(json.stderr)).toMatchObject([{ error: { code: 'E3003' } }]);
  });
});

describe('decode reads the output of encode', () => {
  const FULL_STATE = { agent: 'orchestrator', intent: 'sync', operation: 'state' };
  /** Messages that require others that the excerpt does not contain. */
  const NEEDS: Readonly<Record<string, (message: CorpusMessage) => object[]>> = {
    A07: (message) => [{ ...message, envelope: { ...message.envelope, correlation_id: '7d9a4ccbb1b6' } }],
    A09: (message) => [{ ...FULL_STATE, payload: { version: 7, phase: 'code' } }, message],
    C09: (message) => [{ ...FULL_STATE, payload: { version: 5, phase: 'fix' } }, message],
  };
  /** The corpus has several sessions, each with its own state. */
  const SESSIONS = [...new Set(CORPUS.map(({ message }) => message.envelope['session_id']))].map((session) =>
    CORPUS.filter(({ message }) => message.envelope['session_id'] === session),
  );
  /** Before the shortest ttl of the corpus expires. */
  const OPTIONS = ['--text', 'transliterate', '--now', '2026-04-08T09:09:46Z'];

  /** The defaults of the schema, which a receiver adds. */
  function expected({ schema, payload, ...message }: CorpusMessage): object {
    const defaults = schema === undefined ? {} : createRegistry().byCode(schema)!.defaults;
    const { sequence: _, session_id: __, ...envelope } = message.envelope ?? {};
    return { ...message, ...(schema === undefined ? {} : { schema }), payload: { ...defaults, ...payload }, envelope };
  }

  test.each(SESSIONS.map((session) => [session[0]!.id, session] as const))('the session of %s', async (id, session) => {
    const sent = session.flatMap(({ id, message }) => NEEDS[id]?.(message) ?? [message]) as CorpusMessage[];
    // Some of its streams continue after the excerpt.
    const stored = ['--session', path.join(scratch.path, `${id}.db`)];
    const messages = await messagesOf(await framesOf(sent, ...OPTIONS), ...OPTIONS, ...stored);
    const decoded = messages.map(({ envelope: { sequence: _, session_id: __, ...envelope }, ...message }) => ({
      ...message,
      envelope,
    }));
    expect(decoded).toMatchObject(sent.map(expected));
    expect(messages.map(({ payload }) => Object.keys(payload).length)).toEqual(
      sent.map((message) => Object.keys((expected(message) as CorpusMessage).payload).length),
    );
  });

  test('messages that the corpus does not allow are rejected with their path', async () => {
    const refused: unknown[] = [];
    for (const session of SESSIONS) {
      const { stdout } = await encode(
        session.map(({ message }) => message),
        '--json',
        ...OPTIONS,
      );
      const results = jsonLines(stdout) as { line: number; ok: boolean; error?: { path: string } }[];
      for (const { line, ok, error } of results) if (!ok) refused.push([session[line - 1]!.id, error?.path]);
    }
    expect(refused).toEqual([
      ['A07', 'envelope.correlation_id'],
      ['A09', 'payload.version'],
      ['A10', 'payload.version'],
      ['C09', 'payload.version'],
    ]);
  });

  test('as two programs', async () => {
    const encoded = await program(['encode', 'accp', '--text', 'transliterate'], {
      stdin: lines(JSON.stringify({ ...FIND, payload: { query: 'Größe? 100%' } })),
    });
    expect(encoded.code).toBe(0);
    const decoded = await program(['decode', 'accp', '--text', 'transliterate'], { stdin: encoded.stdout });
    expect(jsonLines(decoded.stdout)).toMatchObject([{ agent: 'sender', payload: { query: 'Größe? 100%' } }]);
  });
});

test.each([
  [['decode', 'aacp'], /^error\[[\w-]+\]: decode accepts accp; got "aacp"/],
  [['decode', 'accp', '--replies', 'no/such/folder/x'], /^error\[unwritable\]: Cannot write no\/such\/folder\/x/],
] as const)('incorrect usage: %j', async (args, expected) => {
  const { code, stdout, stderr } = await cli(args, { stdin: ONE });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(expected);
});
