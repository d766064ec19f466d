/** The envelopes of messages that a runtime sends. */
import { afterEach, describe, expect, test } from 'vitest';
import { ArcpError, type Envelope } from '../../../src/arcp/index.js';
import { createRuntime, type Runtime } from '../../../src/arcp/runtime/index.js';
import { connectTo, type Wire } from './wire.js';

const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
});

const TRACE = 'c'.repeat(32);
const SPAN = 'd'.repeat(16);

/** A session with all kinds of messages. */
async function muchHappens(): Promise<{ readonly wire: Wire; readonly sent: readonly { readonly id: string }[] }> {
  const runtime = createRuntime()
    .tool('read', {}, () => 'read')
    .tool('fails', {}, () => {
      throw new ArcpError('RATE_LIMITED', 'Not now');
    })
    .tool(
      'work',
      { durable: true, permissions: ['deploy.rollback'], retry: { maxAttempts: 2, backoffMs: 1 } },
      async (_, { attempt, progress, stream, log, metric, checkpoint, span, permission, call, emit }) => {
        if (attempt === 1) throw new ArcpError('UNAVAILABLE', 'Later');
        const out = stream({ kind: 'text' });
        await out.write('half');
        await out.close();
        await span('part', async () => log('info', 'within'));
        await metric({ name: 'rows', value: 1 });
        await progress({ percent: 50 });
        await checkpoint({ at: 1 });
        await call('read');
        await emit('thing.happened');
        await permission({ permission: 'deploy.rollback' });
        return 'done';
      },
    )
    .tool('denied', { durable: true, permissions: ['deploy.rollback'] }, async (_, { permission }) => {
      await permission({ permission: 'deploy.rollback' });
    })
    .tool('waits', { durable: true }, (_, { signal }) => {
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    })
    .agent('first', {}, (_, { handOff }) => handOff('second'))
    .agent('second', {}, () => 'taken over');
  runtimes.push(runtime);
  const wire = connectTo(runtime);
  await wire.open();
  const sent: { readonly id: string }[] = [];
  const send = (type: string, payload = {}, more = {}): { readonly id: string } => {
    const message = wire.send(type, payload, { trace_id: TRACE, span_id: SPAN, ...more });
    sent.push(message);
    return message;
  };
  const ended = async (command: { readonly id: string }, type = 'completed'): Promise<Envelope> =>
    wire.until((one) => one.type === `job.${type}` && one.correlation_id === command.id);
  await wire.answer('tool.result', send('tool.invoke', { tool: 'read' }));
  await wire.answer('tool.error', send('tool.invoke', { tool: 'fails' }));
  await wire.answer('nack', send('tool.invoke', { tool: 'nothing' }));
  await wire.answer('pong', send('ping'));
  const work = send('tool.invoke', { tool: 'work' });
  const asked = await wire.until(({ type }) => type === 'permission.request');
  send('permission.grant', {}, { correlation_id: asked.id });
  await ended(work);
  const denied = send('tool.invoke', { tool: 'denied' });
  const again = await wire.until(({ type }) => type === 'permission.request', wire.heard.indexOf(asked) + 1);
  send('permission.deny', {}, { correlation_id: again.id });
  await ended(denied, 'failed');
  const waiting = send('tool.invoke', { tool: 'waits' });
  const { payload } = await wire.answer('job.accepted', waiting);
  await wire.until(({ type, job_id }) => type === 'job.started' && job_id === payload.job_id);
  send('cancel', {}, { job_id: payload.job_id });
  await ended(waiting, 'cancelled');
  await ended(send('agent.delegate', { target: 'first', task: 'Take over' }));
  await wire.answer('ack', send('resume', {}, { job_id: payload.job_id }));
  return { wire, sent };
}

describe('each message', () => {
  test('has the ids of its session, trace, span, and job or stream', async () => {
    const { wire } = await muchHappens();
    for (const message of wire.heard) {
      expect(message).toMatchObject({
        ...{ arcp: '1.0', source: 'runtime', session_id: wire.sessionId },
        ...{ id: expect.any(String), trace_id: expect.any(String), span_id: expect.any(String) },
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      });
      if (message.type.startsWith('job.')) expect(message.job_id).toEqual(expect.any(String));
      if (message.type.startsWith('stream.')) expect(message.stream_id).toEqual(expect.any(String));
    }
    // A replayed message is unchanged.
    const texts = new Set(wire.heard.map((message) => JSON.stringify(message)));
    expect(new Set(wire.heard.map(({ id }) => id)).size).toBe(texts.size);
  });

  test('is in the trace of the command that caused it, below its span', async () => {
    const { wire } = await muchHappens();
    const caused = wire.heard.filter(({ type }) => type !== 'session.accepted');
    expect(new Set(caused.map(({ trace_id }) => trace_id))).toEqual(new Set([TRACE]));
    const accepted = caused.filter(({ type }) => type === 'job.accepted');
    expect(accepted.length).toBeGreaterThan(2);
    for (const { parent_span_id: parent } of accepted) expect(parent).toBe(SPAN);
  });

  test('that is an answer has the id of its command, and each command is answered', async () => {
    const { wire, sent } = await muchHappens();
    const answers = new Set(['ack', 'nack', 'job.accepted', 'tool.result', 'tool.error', 'pong', 'session.accepted']);
    // A failed attempt that is followed by another one is not an answer.
    const isAnswer = (one: Envelope): boolean =>
      answers.has(one.type) && !(one.type === 'tool.error' && one.payload.will_retry === true);
    for (const { type, correlation_id } of wire.heard.filter(isAnswer))
      expect({ type, correlation_id }).toEqual({ type, correlation_id: expect.any(String) });
    const answered = new Set(wire.heard.map(({ correlation_id }) => correlation_id));
    expect(sent.filter(({ id }) => !answered.has(id))).toEqual([]);
  });

  test('has the id of its cause: the command, an answer, or the previous attempt', async () => {
    const { wire, sent } = await muchHappens();
    const known = new Set([...sent, ...wire.heard].map(({ id }) => id));
    const events = wire.heard.filter(({ job_id, type }) => job_id !== undefined && type !== 'ack');
    for (const { type, causation_id } of events)
      expect({ type, isKnown: known.has(causation_id ?? '') }).toEqual({ type, isKnown: true });
    const granted = wire.heard.find(
      (one) => one.type === 'event.emit' && one.payload.attributes?.['decision'] === 'granted',
    );
    const grant = sent.find((one) => (one as { readonly type?: string }).type === 'permission.grant');
    expect(granted?.causation_id).toBe(grant?.id);
    const [first, second] = wire.heard.filter((one) => one.type === 'job.started');
    const command = sent.find((one) => one.id === first?.causation_id);
    expect(command).toMatchObject({ type: 'tool.invoke' });
    const retry = wire.heard.find(({ id }) => id === second?.causation_id);
    expect(retry).toMatchObject({ type: 'event.emit', payload: { attributes: { from: 'running', to: 'queued' } } });
  });

  test('reports one of the events that the specification lists', async () => {
    const { wire } = await muchHappens();
    const types = new Set(wire.types());
    for (const type of [
      'job.started',
      'job.progress',
      'stream.chunk',
      'job.checkpoint',
      'job.cancelled',
      'tool.result',
    ])
      expect(types).toContain(type);
    const names = new Set(wire.heard.flatMap((one) => (one.type === 'event.emit' ? [one.payload.name] : [])));
    expect(names).toContain('arcp.agent.transferred');
    const failed = wire.heard.filter((one) => one.type === 'job.failed');
    expect(failed.map(({ payload }) => payload.code)).toEqual(['PERMISSION_DENIED']);
  });
});

describe('a message with a target', () => {
  test('is accepted if the target exists: the runtime, a tool, an agent', async () => {
    const { wire } = await muchHappens();
    for (const target of ['runtime', 'pegwire', 'read', 'first']) {
      const result = await wire.answer(
        'tool.result',
        wire.send('tool.invoke', { tool: 'read' }, { target, source: 'me' }),
      );
      expect(result.payload.result).toBe('read');
    }
    const given = wire.send('agent.delegate', { target: 'second', task: 'Do it' }, { target: 'second' });
    await wire.answer('job.accepted', given);
  });

  test('is refused if the target is unknown, or differs from that of the task', async () => {
    const { wire } = await muchHappens();
    const other = wire.send('tool.invoke', { tool: 'read' }, { target: 'research-agent' });
    expect((await wire.answer('nack', other)).payload).toMatchObject({
      ...{ code: 'NOT_FOUND', details: { target: 'research-agent' } },
    });
    const mixed = wire.send('agent.delegate', { target: 'second', task: 'Do it' }, { target: 'first' });
    expect((await wire.answer('nack', mixed)).payload.code).toBe('INVALID_ARGUMENT');
    await wire.answer('pong', wire.send('ping'));
  });

  test('that is unknown opens no session', async () => {
    const runtime = createRuntime();
    runtimes.push(runtime);
    const wire = connectTo(runtime);
    const opened = wire.send('session.open', { capabilities: {} }, { target: 'another-runtime' });
    expect((await wire.answer('nack', opened)).payload.code).toBe('NOT_FOUND');
    await wire.ended();
  });
});
