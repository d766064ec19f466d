import { afterEach, describe, expect, test } from 'vitest';
import { ArcpError, type Envelope } from '../../../src/arcp/index.js';
import {
  anonymous,
  bearer,
  createRuntime,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
} from '../../../src/arcp/runtime/index.js';
import { passingTime } from '../../helpers/passing-time.js';
import { MESSAGE_CASES } from '../messages.js';
import { CAPABILITIES, connectTo, deferred, Wire } from './wire.js';

const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
});

function start(options: RuntimeOptions = {}): Runtime {
  const runtime = createRuntime(options);
  runtimes.push(runtime);
  runtime.tool('echo', {}, (input) => input);
  runtime.tool('job', { durable: true }, (input) => input);
  runtime.tool('public', { isPublic: true }, () => 'hello');
  return runtime;
}

const TOKENS: Readonly<Record<string, string>> = { a: 'alice', b: 'bob' };
const auth = bearer((token) =>
  TOKENS[token] === undefined ? undefined : { principal: TOKENS[token], trust: 'trusted' },
);
const withToken = (token: string) => ({ auth: { scheme: 'bearer', token } });

describe('opening', () => {
  test('returns the negotiated capabilities, tools, workflows and agents', async () => {
    const accepted = await connectTo(start()).open();
    expect(accepted).toMatchObject({
      payload: {
        ...{ mode: 'durable', trust_level: 'constrained', heartbeat_interval_seconds: 15 },
        capabilities: { durable_jobs: true, binary_streams: false },
        tools: [{ name: 'echo' }, { name: 'job', durable: true }, { name: 'public' }],
        limits: { max_message_bytes: 4 * 1024 * 1024 },
      },
    });
    expect(accepted.session_id).toBe(accepted.payload.session_id);
    expect(accepted.trace_id).toMatch(/^[0-9a-f]{32}$/);
    expect(accepted.span_id).toMatch(/^[0-9a-f]{16}$/);
  });

  test('commands before it are refused', async () => {
    const wire = connectTo(start());
    const invoked = wire.send('tool.invoke', { tool: 'echo' });
    expect((await wire.answer('nack', invoked)).payload).toMatchObject({
      code: 'FAILED_PRECONDITION',
      nack_for: invoked.id,
    });
    const pinged = wire.send('ping', { nonce: 'n' });
    expect((await wire.answer('pong', pinged)).payload).toMatchObject({ ack_for: pinged.id, nonce: 'n' });
    await wire.open();
    expect((await wire.answer('tool.result', wire.send('tool.invoke', { tool: 'echo' }))).payload.result).toEqual({});
  });

  test('commands that follow at once are executed after it', async () => {
    const wire = connectTo(start());
    const opened = wire.send('session.open', { capabilities: CAPABILITIES });
    const early = wire.send('tool.invoke', { tool: 'echo' });
    await wire.answer('session.accepted', opened);
    // The id of the session is not known yet.
    expect((await wire.answer('nack', early)).payload).toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: { issues: [{ path: 'session_id' }] },
    });
  });

  test('without a supported version is refused', async () => {
    const wire = connectTo(start());
    const opened = wire.send('session.open', { capabilities: {}, versions: ['2.0', '3.1'] });
    expect((await wire.answer('nack', opened)).payload).toMatchObject({
      code: 'UNSUPPORTED_VERSION',
      details: { supported: ['1.0'] },
    });
    await wire.ended();
    await connectTo(start()).open({ versions: ['2.0', '1.3'] });
  });

  test('by an unknown client is refused, whatever the verifier throws', async () => {
    const failing = async (): Promise<never> => {
      throw new Error('the secret of the database');
    };
    for (const [options, payload] of [
      [{ auth }, {}],
      [{ auth }, withToken('c')],
      [{ auth }, { auth: { scheme: 'basic', token: 'a' } }],
      [{ auth: failing }, withToken('a')],
    ] as const) {
      const wire = connectTo(start(options));
      const nack = await wire.answer('nack', wire.send('session.open', { capabilities: {}, ...payload }));
      expect(nack.payload).toMatchObject({ code: 'UNAUTHENTICATED' });
      expect(JSON.stringify(nack)).not.toContain('secret');
      await wire.ended();
    }
  });

  test('a second time is refused, and the first session continues', async () => {
    const wire = connectTo(start());
    await wire.open();
    const again = wire.send('session.open', { capabilities: {} });
    expect((await wire.answer('nack', again)).payload.code).toBe('FAILED_PRECONDITION');
    await wire.answer('tool.result', wire.send('tool.invoke', { tool: 'echo' }));
  });

  test.each([
    ['privileged', undefined, 'privileged'],
    ['privileged', 'constrained', 'constrained'],
    ['untrusted', 'privileged', 'untrusted'],
  ] as const)('trust: a client with %s that requests %s receives %s', async (trust, wanted, given) => {
    const wire = connectTo(start({ auth: anonymous({ trust }) }));
    const accepted = await wire.open(wanted === undefined ? {} : { trust_level: wanted });
    expect(accepted.payload.trust_level).toBe(given);
  });

  test('without trust offers only public tools', async () => {
    const wire = connectTo(start({ auth: anonymous({ trust: 'untrusted' }) }));
    expect((await wire.open()).payload.tools).toMatchObject([{ name: 'public' }]);
    await wire.answer('tool.result', wire.send('tool.invoke', { tool: 'public' }));
    const refused = await wire.answer('nack', wire.send('tool.invoke', { tool: 'echo' }));
    expect(refused.payload.code).toBe('PERMISSION_DENIED');
  });
});

describe('messages in a session', () => {
  test('must have its id', async () => {
    const wire = connectTo(start());
    await wire.open();
    const without = wire.send('tool.invoke', { tool: 'echo' }, { session_id: undefined });
    expect((await wire.answer('nack', without)).payload.code).toBe('INVALID_ARGUMENT');
    const other = wire.send('tool.invoke', { tool: 'echo' }, { session_id: 'sess_other' });
    expect((await wire.answer('nack', other)).payload.code).toBe('NOT_FOUND');
  });

  test.each(MESSAGE_CASES.filter(({ from }) => from === 'runtime'))(
    'of runtimes are refused from clients: $id',
    async ({ id, full }) => {
      const wire = connectTo(start());
      await wire.open();
      const sent = wire.send(id, full, { job_id: 'job_1', stream_id: 'str_1' });
      expect((await wire.answer('nack', sent)).payload.code).toBe('PERMISSION_DENIED');
    },
  );

  test('that are invalid are refused, and the session continues', async () => {
    const wire = connectTo(start());
    await wire.open();
    const unknown = wire.send('job.nonsense');
    expect((await wire.answer('nack', unknown)).payload.code).toBe('UNIMPLEMENTED');
    const later = wire.send('ping', {}, { arcp: '2.0' });
    expect((await wire.answer('nack', later)).payload).toMatchObject({
      code: 'UNSUPPORTED_VERSION',
      details: { supported: ['1.0'] },
    });
    wire.channel.send('{"arcp":');
    const parse = await wire.until(
      ({ type, payload }) =>
        type === 'nack' && (payload as { details?: { reason?: string } }).details?.reason === 'parse_error',
    );
    expect(parse).not.toHaveProperty('correlation_id');
    await wire.answer('pong', wire.send('ping'));
    await wire.answer('tool.result', wire.send('tool.invoke', { tool: 'echo' }));
  });

  test('that are invalid too often end the connection', async () => {
    const wire = connectTo(start());
    await wire.open();
    for (let n = 0; n < 30; n++) wire.channel.send('garbage');
    await wire.ended();
    expect(wire.heard.at(-1)).toMatchObject({ type: 'nack', payload: { code: 'RESOURCE_EXHAUSTED' } });
  });
});

describe('dead peers', () => {
  test('are disconnected after two unanswered pings, and jobs continue', async () => {
    const done = deferred();
    const runtime = start({ heartbeatMs: 30 });
    runtime.tool('slow', { durable: true }, () => done.promise);
    const wire = connectTo(runtime);
    wire.answersPings = false;
    const { payload } = await wire.open();
    const { jobId } = await wire.startJob('slow');
    await wire.ended();
    expect(wire.types().filter((type) => type === 'ping')).toHaveLength(2);
    done.resolve();
    const again = connectTo(runtime);
    again.sessionId = payload.session_id;
    await again.open({ resume_token: payload.resume_token }, { session_id: payload.session_id });
    again.send('resume', {}, { job_id: jobId });
    expect(await again.untilEnded(jobId)).toMatchObject({ type: 'job.completed' });
  });

  test('that answer stay connected', async () => {
    const wire = connectTo(start({ heartbeatMs: 20 }));
    await wire.open();
    await wire.until(() => wire.types().filter((type) => type === 'ping').length === 5);
    expect(wire.hasEnded).toBe(false);
  });
});

describe('closing', () => {
  test('leaves jobs running, and the session ends', async () => {
    const done = deferred<string>();
    const runtime = start();
    runtime.tool('slow', { durable: true }, () => done.promise);
    const wire = connectTo(runtime);
    const { payload } = await wire.open();
    const { jobId } = await wire.startJob('slow');
    const closed = wire.send('session.close', { reason: 'done' });
    expect((await wire.answer('ack', closed)).payload.status).toBe('done');
    const late = wire.send('tool.invoke', { tool: 'echo' });
    expect((await wire.answer('nack', late)).payload.code).toBe('FAILED_PRECONDITION');
    done.resolve('fine');
    wire.sessionId = undefined;
    const reopened = wire.send(
      'session.open',
      { capabilities: CAPABILITIES, resume_token: payload.resume_token },
      { session_id: payload.session_id },
    );
    expect((await wire.answer('nack', reopened)).payload.code).toBe('FAILED_PRECONDITION');
    const other = connectTo(runtime);
    await other.open();
    other.send('resume', {}, { job_id: jobId });
    expect(await other.untilEnded(jobId)).toMatchObject({ type: 'job.completed', payload: { result: 'fine' } });
  });

  test.each(['jobs', 'dispose_jobs'])('with %s: cancel ends them first', async (member) => {
    const runtime = start();
    runtime.tool(
      'slow',
      { durable: true },
      (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    const wire = connectTo(runtime);
    await wire.open();
    const { jobId } = await wire.startJob('slow');
    await wire.answer('ack', wire.send('session.close', { [member]: 'cancel', reason: 'enough' }));
    expect(wire.types().slice(-2)).toEqual(['job.cancelled', 'ack']);
    expect(wire.ofJob(jobId).at(-1)).toMatchObject({ payload: { cause: 'client', reason: 'enough', forced: false } });
  });

  test('with jobs: drain waits for them', async () => {
    const done = deferred();
    const runtime = start();
    runtime.tool('slow', { durable: true }, () => done.promise);
    const wire = connectTo(runtime);
    await wire.open();
    await wire.startJob('slow');
    const closed = wire.send('session.close', { jobs: 'drain' });
    await wire.answer('pong', wire.send('ping'));
    done.resolve();
    await wire.answer('ack', closed);
    expect(wire.types().slice(-2)).toEqual(['job.completed', 'ack']);
  });
});

describe('resuming', () => {
  test('with its token, which is replaced and becomes invalid once the new one is used', async () => {
    const runtime = start({ auth });
    const { payload } = await connectTo(runtime).open(withToken('a'));
    const takeUp = async (token: string | undefined): Promise<string | undefined> => {
      const wire = connectTo(runtime);
      const opening = { capabilities: {}, ...withToken('a'), resume_token: token };
      const sent = wire.send('session.open', opening, { session_id: payload.session_id });
      const answer = await wire.until(({ correlation_id }) => correlation_id === sent.id);
      if (answer.type !== 'session.accepted') return (answer as Envelope<'nack'>).payload.code;
      expect(answer.payload.session_id).toBe(payload.session_id);
      return answer.payload.resume_token;
    };
    const first = payload.resume_token;
    const lost = await takeUp(first);
    // The answer may be lost.
    const second = await takeUp(first);
    const third = await takeUp(second);
    expect(new Set([first, lost, second, third]).size).toBe(4);
    expect(await takeUp(first)).toBe('PERMISSION_DENIED');
    expect(await takeUp(lost)).toBe('PERMISSION_DENIED');
    expect(await takeUp(third)).toMatch(/^[0-9a-f]{64}$/);
  });

  test('the session of another principal is refused', async () => {
    const runtime = start({ auth });
    const { payload } = await connectTo(runtime).open(withToken('a'));
    for (const token of [payload.resume_token, 'guessed', undefined]) {
      const wire = connectTo(runtime);
      const sent = wire.send(
        'session.open',
        { capabilities: {}, ...withToken('b'), resume_token: token },
        { session_id: payload.session_id },
      );
      expect((await wire.answer('nack', sent)).payload.code).toBe('PERMISSION_DENIED');
    }
  });

  test('an unknown session is not found', async () => {
    const wire = connectTo(start());
    const sent = wire.send('session.open', { capabilities: {} }, { session_id: 'sess_none' });
    expect((await wire.answer('nack', sent)).payload.code).toBe('NOT_FOUND');
  });

  test('on another connection ends the first connection', async () => {
    const runtime = start();
    const first = connectTo(runtime);
    const { payload } = await first.open();
    const second = connectTo(runtime);
    second.sessionId = payload.session_id;
    await second.open({ resume_token: payload.resume_token });
    await first.ended();
    expect(first.heard.at(-1)).toMatchObject({ type: 'nack', payload: { code: 'ABORTED' } });
    await second.answer('tool.result', second.send('tool.invoke', { tool: 'echo' }));
  });

  test('a repeated session.open opens no second session', async () => {
    const runtime = start();
    const open = { id: 'msg_open' };
    const first = connectTo(runtime);
    const { payload } = await first.open({}, open);
    first.channel.destroy();
    expect((await connectTo(runtime).open({}, open)).payload.session_id).toBe(payload.session_id);
  });

  test('an infinite window and heartbeat interval are not announced as numbers', async () => {
    const never = Number.POSITIVE_INFINITY;
    const runtime = start({ heartbeatMs: never, resumeWindowMs: never, retentionMs: never });
    const { payload } = await connectTo(runtime).open();
    expect(payload.resume_token).toBeTypeOf('string');
    expect(payload).not.toHaveProperty('resume_window_seconds');
    expect(payload).not.toHaveProperty('heartbeat_interval_seconds');
    expect(await runtime.trim()).toEqual({ jobs: 0, events: 0, records: 0 });
  });

  test('fails after the window', async () => {
    const clock = passingTime(Date.now());
    const runtime = start({ now: () => clock.now, resumeWindowMs: 60_000 });
    const wire = connectTo(runtime);
    const { payload } = await wire.open();
    wire.channel.destroy();
    await new Promise((resolve) => setTimeout(resolve, 20));
    clock.now += 61_000;
    const late = connectTo(runtime);
    const sent = late.send(
      'session.open',
      { capabilities: {}, resume_token: payload.resume_token },
      { session_id: payload.session_id },
    );
    expect((await late.answer('nack', sent)).payload.code).toBe('NOT_FOUND');
  });

  describe('sessions in use are never removed', () => {
    const DAY = 24 * 60 * 60 * 1000;

    /** Resumes the session of another connection after its last message. */
    async function takeUp(runtime: Runtime, accepted: Envelope<'session.accepted'>, lastId: string): Promise<Wire> {
      const wire = connectTo(runtime);
      const { session_id, resume_token } = accepted.payload;
      await wire.open({ resume_token }, { session_id });
      await wire.answer('ack', wire.send('resume', { after_message_id: lastId }));
      return wire;
    }

    test.each([
      ['used every day', true, {}],
      ['connected and idle', false, {}],
      ['used every day, with a short window', true, { resumeWindowMs: 60_000 }],
      ['connected and idle, with a short window', false, { resumeWindowMs: 60_000 }],
    ])('%s', async (_, isUsed, options) => {
      const clock = passingTime(Date.now());
      const now = () => clock.now;
      const store = memoryStore({ now });
      const runtime = start({ store, now, ...options });
      const wire = connectTo(runtime);
      const accepted = await wire.open();
      const use = () => wire.answer('tool.result', wire.send('tool.invoke', { tool: 'echo' }));
      let last = await use();
      for (let day = 0; day < 8; day++) {
        clock.now += DAY;
        if (isUsed) last = await use();
        await runtime.trim();
      }
      // The runtime does not notice the end of the connection, as after a network failure or a crash.
      const again = await takeUp(runtime, accepted, last.id);
      await again.answer('tool.result', again.send('tool.invoke', { tool: 'echo' }));
      const { payload } = again.heard.find(({ type }) => type === 'session.accepted') as typeof accepted;
      clock.now += 8 * DAY;
      await runtime.trim();
      await takeUp(start({ store, now, ...options }), { ...accepted, payload }, again.heard.at(-1)!.id);
    });

    test('before their window ends', async () => {
      const clock = passingTime(Date.now());
      const runtime = start({
        now: () => clock.now,
        retentionMs: 24 * 60 * 60_000,
        resumeWindowMs: 3 * 24 * 60 * 60_000,
      });
      const wire = connectTo(runtime);
      const accepted = await wire.open();
      wire.channel.destroy();
      await new Promise((resolve) => setTimeout(resolve, 20));
      clock.now += 2 * DAY;
      await runtime.trim();
      const again = connectTo(runtime);
      const { session_id, resume_token } = accepted.payload;
      await again.open({ resume_token }, { session_id });
    });

    test('and those that cannot be resumed are removed, with all their data', async () => {
      const clock = passingTime(Date.now());
      const now = () => clock.now;
      const store = memoryStore({ now });
      const runtime = start({ store, now }).tool('remember', {}, (input, { memory }) => memory.set('it', input));
      const [gone, closed, kept] = [connectTo(runtime), connectTo(runtime), connectTo(runtime)];
      for (const wire of [gone, closed, kept]) {
        await wire.open();
        await wire.answer('tool.result', wire.send('tool.invoke', { tool: 'remember', arguments: { a: 1 } }));
      }
      gone.channel.destroy();
      await closed.answer('ack', closed.send('session.close', {}));
      await new Promise((resolve) => setTimeout(resolve, 20));
      clock.now += 8 * DAY;
      await runtime.trim();
      const all = await store.listRecords('session', { limit: 9 });
      expect(all.map(({ key }) => key)).toEqual([kept.sessionId]);
      for (const { sessionId } of [gone, closed]) {
        expect(await store.listRecords(`memory:${sessionId}`, { limit: 9 })).toEqual([]);
        expect(await store.readEvents({ sessionId: sessionId!, limit: 9 })).toEqual([]);
      }
      expect(await store.listRecords(`memory:${kept.sessionId}`, { limit: 9 })).toHaveLength(1);
    });
  });

  test.each([
    ['stateless', false, false],
    ['stateful', true, false],
    ['durable', true, true],
  ] as const)('%s: after its connection %s, after its runtime %s', async (mode, afterConnection, afterRuntime) => {
    const store = memoryStore();
    const runtime = createRuntime({ store });
    runtimes.push(runtime);
    const first = connectTo(runtime);
    const { payload } = await first.open({ mode });
    expect(payload.mode).toBe(mode);
    first.channel.destroy();
    const attempt = async (to: Runtime): Promise<boolean> => {
      const wire = connectTo(to);
      const token = wireToken;
      const sent = wire.send(
        'session.open',
        { capabilities: {}, resume_token: token },
        { session_id: payload.session_id },
      );
      const answer = await wire.until(({ correlation_id }) => correlation_id === sent.id);
      if (answer.type === 'session.accepted') wireToken = answer.payload.resume_token;
      return answer.type === 'session.accepted';
    };
    let wireToken = payload.resume_token;
    expect(await attempt(runtime)).toBe(afterConnection);
    const next = createRuntime({ store });
    runtimes.push(next);
    expect(await attempt(next)).toBe(afterRuntime);
  });

  test('a stateless session cannot have jobs', async () => {
    const wire = connectTo(start());
    const { payload } = await wire.open({ mode: 'stateless' });
    expect(payload).not.toHaveProperty('resume_token');
    expect(
      (await wire.answer('tool.result', wire.send('tool.invoke', { tool: 'job', arguments: { a: 1 } }))).payload.result,
    ).toEqual({ a: 1 });
    const asked = wire.send('tool.invoke', { tool: 'job', mode: 'job' });
    expect((await wire.answer('nack', asked)).payload.code).toBe('FAILED_PRECONDITION');
  });

  test('jobs that were not negotiated are refused if the client requests them', async () => {
    const wire = connectTo(start());
    await wire.open({ capabilities: {} });
    const asked = wire.send('tool.invoke', { tool: 'job', mode: 'job' });
    expect((await wire.answer('nack', asked)).payload.code).toBe('UNIMPLEMENTED');
    await wire.answer('tool.result', wire.send('tool.invoke', { tool: 'job' }));
  });
});

test('errors of the protocol that a verifier throws are sent', async () => {
  const wire = connectTo(
    start({
      auth: () => {
        throw new ArcpError('UNAVAILABLE', 'The directory does not answer');
      },
    }),
  );
  expect(wire).toBeInstanceOf(Wire);
  expect((await wire.answer('nack', wire.send('session.open', { capabilities: {} }))).payload).toMatchObject({
    code: 'UNAVAILABLE',
    retryable: true,
  });
});
