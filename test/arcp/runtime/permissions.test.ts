import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Envelope } from '../../../src/arcp/index.js';
import {
  bearer,
  createRuntime,
  type Decision,
  definePolicy,
  type JobContext,
  type Lease,
  type PermissionRequest,
  type Runtime,
  type RuntimeOptions,
  sqliteStore,
} from '../../../src/arcp/runtime/index.js';
import { passingTime } from '../../helpers/passing-time.js';
import { connectTo, deferred, type Wire } from './wire.js';

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

function start(options: RuntimeOptions = {}): Runtime {
  const runtime = createRuntime(options);
  ending.push(() => runtime.close());
  return runtime;
}

async function opened(runtime: Runtime, payload: Readonly<Record<string, unknown>> = {}): Promise<Wire> {
  const wire = connectTo(runtime);
  await wire.open(payload);
  return wire;
}

const REFUND: PermissionRequest = {
  permission: 'payment.refund.create',
  resource: 'order:ord_4812',
  operation: 'refund',
  reason: 'Issue a customer-approved refund',
  leaseMs: 300_000,
};
const DECLARED = { durable: true, permissions: ['payment.refund.create'] } as const;

/** A tool that requests a permission, and then does something. */
function withRefund(
  runtime: Runtime,
  work: (lease: Lease, context: JobContext) => unknown = () => 'refunded',
): Runtime {
  return runtime.tool('refund', DECLARED, async (_, context) => work(await context.permission(REFUND), context));
}

const requested = (wire: Wire): Promise<Envelope<'permission.request'>> =>
  wire.until(({ type }) => type === 'permission.request') as Promise<Envelope<'permission.request'>>;

const told = (messages: readonly Envelope[]): string[] =>
  messages.map((message) =>
    message.type === 'event.emit' && message.payload.name === 'arcp.job.state'
      ? `${message.payload.attributes?.['from']}>${message.payload.attributes?.['to']}`
      : message.type,
  );

describe('a challenge', () => {
  test('blocks the job until the permission is granted', async () => {
    const wire = await opened(withRefund(start()));
    const { jobId } = await wire.startJob('refund');
    const request = await requested(wire);
    expect(request).toMatchObject({
      job_id: jobId,
      payload: {
        ...{ permission: 'payment.refund.create', resource: 'order:ord_4812', operation: 'refund' },
        ...{ reason: 'Issue a customer-approved refund', requested_lease_seconds: 300, trust_level: 'constrained' },
      },
    });
    const grant = wire.send('permission.grant', { lease_seconds: 60 }, { correlation_id: request.id, job_id: jobId });
    expect((await wire.answer('ack', grant)).payload.details).toMatchObject({ lease_id: expect.any(String) });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.completed', payload: { result: 'refunded' } });
    expect(told(wire.ofJob(jobId))).toEqual([
      ...['job.accepted', 'job.started', 'permission.request', 'running>blocked', 'blocked>running', 'job.completed'],
    ]);
    // The cause is the message that resumed it.
    expect(wire.ofJob(jobId)[4]).toMatchObject({ causation_id: grant.id });
  });

  test('fails the job if the permission is denied', async () => {
    let done = 0;
    const wire = await opened(withRefund(start(), () => done++));
    const { jobId } = await wire.startJob('refund');
    const request = await requested(wire);
    wire.send('permission.deny', { reason: 'Not this one' }, { correlation_id: request.id });
    expect(await wire.untilEnded(jobId)).toMatchObject({
      type: 'job.failed',
      payload: { code: 'PERMISSION_DENIED', message: expect.stringContaining('Not this one'), retryable: false },
    });
    expect(done).toBe(0);
  });

  test('also waits in direct calls', async () => {
    const runtime = start().tool('refund', { permissions: ['payment.*'] }, async (_, { permission }) => {
      await permission(REFUND);
      return 'refunded';
    });
    const wire = await opened(runtime);
    const invoked = wire.send('tool.invoke', { tool: 'refund' });
    const request = await requested(wire);
    expect(request).toMatchObject({ correlation_id: invoked.id });
    wire.send('permission.grant', {}, { correlation_id: request.id });
    expect((await wire.answer('tool.result', invoked)).payload.result).toBe('refunded');
  });

  test('frees the slot of the job while it waits', async () => {
    const runtime = withRefund(start({ workers: { concurrency: 1 } })).tool('echo', { durable: true }, () => 'echo');
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('refund');
    const other = await wire.startJob('echo');
    expect(await wire.untilEnded(other.jobId)).toMatchObject({ type: 'job.completed' });
    wire.send('permission.grant', {}, { correlation_id: (await requested(wire)).id });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.completed' });
  });

  test('expires after the answer timeout', async () => {
    const wire = await opened(withRefund(start({ policy: definePolicy({ answerTimeoutMs: 30 }) })));
    const { jobId } = await wire.startJob('refund');
    const request = await requested(wire);
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.failed', payload: { code: 'DEADLINE_EXCEEDED' } });
    const late = await wire.answer('nack', wire.send('permission.grant', {}, { correlation_id: request.id }));
    expect(late.payload).toMatchObject({ code: 'FAILED_PRECONDITION', details: { state: 'expired' } });
  });

  test('ends when the job is cancelled while it waits', async () => {
    const wire = await opened(withRefund(start()));
    const { jobId } = await wire.startJob('refund');
    await requested(wire);
    wire.send('cancel', {}, { job_id: jobId });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled', payload: { forced: false } });
  });
});

describe('an answer', () => {
  test('is accepted once: a repeated one receives the same answer, and another one is refused', async () => {
    const held = deferred();
    const wire = await opened(withRefund(start(), () => held.promise));
    const { jobId } = await wire.startJob('refund');
    const request = await requested(wire);
    const grant = wire.send('permission.grant', {}, { correlation_id: request.id });
    const ack = await wire.answer('ack', grant);
    wire.channel.send(JSON.stringify(grant));
    await wire.until(({ id }) => id === ack.id, wire.heard.indexOf(ack) + 1);
    const second = wire.send('permission.deny', {}, { correlation_id: request.id });
    expect((await wire.answer('nack', second)).payload).toMatchObject({
      ...{ code: 'FAILED_PRECONDITION', details: { state: 'granted' } },
    });
    held.resolve();
    await wire.untilEnded(jobId);
  });

  test.each([
    ['without a request', {}, {}, 'INVALID_ARGUMENT'],
    ['to an unknown request', {}, { correlation_id: 'msg_unknown' }, 'NOT_FOUND'],
  ])('%s is refused', async (_, payload, more, code) => {
    const wire = await opened(withRefund(start()));
    const refused = await wire.answer('nack', wire.send('permission.grant', payload, more));
    expect(refused.payload.code).toBe(code);
  });

  test('for another resource is refused, and the request stays pending', async () => {
    const wire = await opened(withRefund(start()));
    const { jobId } = await wire.startJob('refund');
    const request = await requested(wire);
    const more = { correlation_id: request.id };
    for (const [payload, fields] of [
      [{ resource: 'order:ord_4813' }, more],
      [{ permission: 'payment.refund.delete' }, more],
      [{}, { ...more, job_id: 'job_other' }],
      // Such a grant would have no effect.
      [{ expires_at: '2001-01-01T00:00:00Z' }, more],
      [{ lease_seconds: 0 }, more],
    ] as const)
      expect((await wire.answer('nack', wire.send('permission.grant', payload, fields))).payload.code).toBe(
        'INVALID_ARGUMENT',
      );
    wire.send('permission.grant', { resource: 'order:ord_4812' }, more);
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.completed' });
  });

  test('of another principal, or of a client that may not grant, is refused', async () => {
    const auth = bearer((token) => ({
      principal: token.split('-')[0]!,
      trust: 'constrained',
      mayGrant: token !== 'a-weak',
    }));
    const runtime = withRefund(start({ auth }));
    const wire = await opened(runtime, { auth: { scheme: 'bearer', token: 'a' } });
    const foreign = await opened(runtime, { auth: { scheme: 'bearer', token: 'b' } });
    const weak = await opened(runtime, { auth: { scheme: 'bearer', token: 'a-weak' } });
    const { jobId } = await wire.startJob('refund');
    const more = { correlation_id: (await requested(wire)).id };
    expect((await foreign.answer('nack', foreign.send('permission.grant', {}, more))).payload.code).toBe('NOT_FOUND');
    expect((await weak.answer('nack', weak.send('permission.grant', {}, more))).payload.code).toBe('PERMISSION_DENIED');
    wire.send('permission.grant', {}, more);
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.completed' });
  });
});

describe('a grant', () => {
  /** The outcome of each use of a lease. */
  async function uses(
    wanted: readonly Parameters<Lease['use']>[0][],
    grant: Readonly<Record<string, unknown>> = {},
    later: (clock: { now: number }) => void = () => {},
  ): Promise<unknown> {
    const clock = passingTime(Date.now());
    const runtime = withRefund(start({ now: () => clock.now }), async (lease) => {
      later(clock);
      const said: string[] = [];
      for (const one of wanted)
        await lease.use(one).then(
          () => said.push('used'),
          (error: { readonly code: string }) => said.push(error.code),
        );
      return said;
    });
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('refund');
    wire.send('permission.grant', grant, { correlation_id: (await requested(wire)).id });
    const last = (await wire.untilEnded(jobId)) as Envelope<'job.completed'>;
    return last.payload.result;
  }

  test('covers only the requested resource and operation', async () => {
    const wanted = [{}, { resource: 'order:ord_4813' }, { operation: 'read' }, undefined];
    expect(await uses(wanted)).toEqual(['used', 'PERMISSION_DENIED', 'PERMISSION_DENIED', 'used']);
  });

  test('expires, at the latest after the requested time', async () => {
    expect(await uses([{}], { lease_seconds: 10 }, (clock) => (clock.now += 9_999))).toEqual(['used']);
    expect(await uses([{}], { lease_seconds: 10 }, (clock) => (clock.now += 10_000))).toEqual(['LEASE_EXPIRED']);
    expect(await uses([{}], { lease_seconds: 9000 }, (clock) => (clock.now += 300_000))).toEqual(['LEASE_EXPIRED']);
    const expires_at = new Date(Date.now() + 5000).toISOString();
    expect(await uses([{}], { expires_at }, (clock) => (clock.now += 6_000))).toEqual(['LEASE_EXPIRED']);
  });

  test('does not change its duration when the clock is set back', async () => {
    expect(await uses([{}], { lease_seconds: 10 }, (clock) => (clock.now -= 60_000))).toEqual(['used']);
  });

  test('can be limited to a number of uses', async () => {
    expect(await uses([{}, {}, {}], { max_uses: 2 })).toEqual(['used', 'used', 'PERMISSION_DENIED']);
  });

  test('counts concurrent uses correctly', async () => {
    const runtime = withRefund(start(), async (lease) => {
      const all = await Promise.allSettled(Array.from({ length: 20 }, () => lease.use()));
      return all.filter(({ status }) => status === 'fulfilled').length;
    });
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('refund');
    wire.send('permission.grant', { max_uses: 7 }, { correlation_id: (await requested(wire)).id });
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: 7 } });
  });

  test('covers the next equal request of the job without a message', async () => {
    const runtime = start().tool('refund', DECLARED, async (_, { permission }) => {
      const [first, second] = [await permission(REFUND), await permission(REFUND)];
      return first.leaseId === second.leaseId;
    });
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('refund');
    wire.send('permission.grant', {}, { correlation_id: (await requested(wire)).id });
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: true } });
  });

  test('without limits waits for its answer and never expires', async () => {
    const [answerTimeoutMs, maxLeaseMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    const runtime = start({ policy: definePolicy({ answerTimeoutMs, maxLeaseMs }) });
    runtime.tool('refund', DECLARED, async (_, { permission }) => {
      const lease = await permission({ ...REFUND, leaseMs: Number.POSITIVE_INFINITY });
      await lease.use();
      return lease.expiresAt === Number.POSITIVE_INFINITY;
    });
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('refund');
    const request = await requested(wire);
    expect(request.payload).not.toHaveProperty('expires_at');
    expect(request.payload).not.toHaveProperty('requested_lease_seconds');
    const granted = wire.send('permission.grant', {}, { correlation_id: request.id });
    expect((await wire.answer('ack', granted)).payload).not.toHaveProperty('details.expires_at');
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: true } });
  });

  test('that has expired is requested again', async () => {
    const clock = passingTime(Date.now());
    const runtime = start({ now: () => clock.now }).tool('refund', DECLARED, async (_, { permission }) => {
      await permission(REFUND);
      clock.now += 301_000;
      await permission(REFUND);
      return 'twice';
    });
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('refund');
    const first = await requested(wire);
    wire.send('permission.grant', {}, { correlation_id: first.id });
    const second = await wire.until(({ type, id }) => type === 'permission.request' && id !== first.id);
    wire.send('permission.grant', {}, { correlation_id: second.id });
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: 'twice' } });
  });

  test('can cover all jobs of the session', async () => {
    const wire = await opened(withRefund(start()));
    const first = await wire.startJob('refund');
    wire.send(
      'permission.grant',
      { constraints: { scope: 'session' } },
      { correlation_id: (await requested(wire)).id },
    );
    await wire.untilEnded(first.jobId);
    const second = await wire.startJob('refund');
    expect(await wire.untilEnded(second.jobId)).toMatchObject({ type: 'job.completed' });
    expect(wire.types().filter((type) => type === 'permission.request')).toHaveLength(1);
  });

  test('for a resource pattern covers each matching resource', async () => {
    const runtime = start().tool('write', { durable: true, permissions: ['filesystem.write'] }, async (_, context) => {
      const lease = await context.permission({ permission: 'filesystem.write', resource: 'file:/repo/*' });
      await lease.use({ resource: 'file:/repo/a.ts' });
      await lease.use({ resource: 'file:/other/a.ts' });
    });
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('write');
    wire.send('permission.grant', {}, { correlation_id: (await requested(wire)).id });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.failed', payload: { code: 'PERMISSION_DENIED' } });
  });
});

describe('a permission that a tool does not declare', () => {
  test('is denied', async () => {
    const runtime = start().tool(
      'sneaky',
      { durable: true, permissions: ['payment.refund.create'] },
      (_, { permission }) => permission({ permission: 'shell.execute' }),
    );
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('sneaky');
    expect(await wire.untilEnded(jobId)).toMatchObject({
      ...{
        type: 'job.failed',
        payload: { code: 'PERMISSION_DENIED', message: expect.stringContaining('does not list it in permissions') },
      },
    });
  });
});

describe('trust', () => {
  /** The outcome of a tool that needs a permission of low risk and one of high risk. */
  async function becomes(trust: string, permission: string): Promise<string[]> {
    const auth = () => ({ principal: 'p', trust: trust as 'trusted' });
    const runtime = start({ auth }).tool(
      'work',
      { durable: true, isPublic: true, permissions: ['*'] },
      async (_, context) => {
        const lease = await context.permission({ permission });
        await lease.use();
      },
    );
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('work');
    void requested(wire).then(
      ({ id }) => wire.send('permission.grant', {}, { correlation_id: id }),
      () => {},
    );
    await wire.untilEnded(jobId);
    return wire.types(wire.ofJob(jobId)).slice(2);
  }

  const AUDITED = ['event.emit', 'log', 'job.completed'];
  const ASKED = ['permission.request', 'event.emit', 'event.emit', 'job.completed'];
  test.each([
    ['untrusted', 'network.fetch', ['job.failed']],
    ['constrained', 'network.fetch', ASKED],
    ['trusted', 'network.fetch', ['job.completed']],
    ['trusted', 'filesystem.write', ASKED],
    ['trusted', 'payment.refund.create', ASKED],
    ['privileged', 'network.fetch', AUDITED],
    ['privileged', 'filesystem.write', AUDITED],
  ])('%s, %s', async (trust, permission, said) => {
    expect(await becomes(trust, permission)).toEqual(said);
  });

  test('determines which tools are available', async () => {
    const runtime = start({ auth: () => ({ principal: 'p', trust: 'untrusted' }) })
      .tool('open', { isPublic: true }, () => 'for all')
      .tool('closed', {}, () => 'for some');
    const wire = connectTo(runtime);
    const accepted = await wire.open();
    expect(accepted.payload.tools?.map(({ name }) => name)).toEqual(['open']);
    const refused = await wire.answer('nack', wire.send('tool.invoke', { tool: 'closed' }));
    expect(refused.payload.code).toBe('PERMISSION_DENIED');
  });
});

describe('a policy', () => {
  const decide = (rules: Readonly<Record<string, Decision>>, permission: string): Decision =>
    definePolicy({ rules: { constrained: rules } }).decide(
      { permission },
      { trust: 'constrained', principal: 'p', target: 't' },
    );

  test.each<[Readonly<Record<string, Decision>>, string, Decision]>([
    [{}, 'filesystem.read', 'challenge'],
    [{ 'filesystem.read': 'auto' }, 'filesystem.read', 'auto'],
    [{ 'filesystem.read': 'auto' }, 'filesystem.readall', 'challenge'],
    [{ 'filesystem.*': 'auto' }, 'filesystem.read', 'auto'],
    [{ 'filesystem.*': 'auto', 'filesystem.read': 'deny' }, 'filesystem.read', 'deny'],
    [{ '*.read': 'auto' }, 'mail.read', 'auto'],
    // Both are equally specific: the stricter one applies, in any order.
    [{ 'a.b.*': 'auto', '*.b.c': 'deny' }, 'a.b.c', 'deny'],
    [{ '*.b.c': 'deny', 'a.b.*': 'auto' }, 'a.b.c', 'deny'],
    [{ '*': 'deny' }, 'anything', 'deny'],
  ])('%j decides on %s: %s', (rules, permission, decision) => {
    expect(decide(rules, permission)).toBe(decision);
  });

  test('can be a function, with the rules as a fallback', async () => {
    const policy = definePolicy({ decide: ({ resource }) => (resource === 'order:ord_4812' ? 'auto' : undefined) });
    const wire = await opened(withRefund(start({ policy })));
    const { jobId } = await wire.startJob('refund');
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.completed' });
    expect(wire.types()).not.toContain('permission.request');
  });

  test('is refused if it is invalid', () => {
    expect(() => definePolicy({ rules: { constrained: { a: 'maybe' as never } } })).toThrow(TypeError);
    expect(() => definePolicy({ rules: { friendly: {} } as never })).toThrow(TypeError);
    for (const answerTimeoutMs of [0, -1, Number.NaN])
      expect(() => definePolicy({ answerTimeoutMs })).toThrow(
        new TypeError(`answerTimeoutMs must be a positive number of milliseconds or Infinity; got ${answerTimeoutMs}`),
      );
    expect(() => definePolicy({ maxLeaseMs: 0 })).toThrow(TypeError);
  });
});

describe('a pending request', () => {
  async function file(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'pegwire-'));
    ending.push(() => rm(folder, { recursive: true }));
    return join(folder, 'arcp.db');
  }

  test('is resent when the session is resumed', async () => {
    const runtime = withRefund(start());
    const wire = connectTo(runtime);
    const accepted = await wire.open();
    const { jobId } = await wire.startJob('refund');
    const request = await requested(wire);
    wire.channel.destroy();
    const again = connectTo(runtime);
    await again.open({ resume_token: accepted.payload.resume_token }, { session_id: accepted.payload.session_id });
    const resumed = again.send('resume', { after_message_id: request.id });
    await again.answer('ack', resumed);
    expect(again.heard.filter(({ id }) => id === request.id)).toEqual([request]);
    again.send('permission.grant', {}, { correlation_id: request.id });
    expect(await again.untilEnded(jobId)).toMatchObject({ type: 'job.completed' });
  });

  test('survives a restart of the runtime, without a second request or effect', async () => {
    const path = await file();
    let done = 0;
    const begin = async (): Promise<Runtime> =>
      withRefund(start({ store: await sqliteStore(path), workers: { leaseMs: 60 } }), async (lease, { step }) => {
        await lease.use();
        return step('pay', () => ++done);
      });
    const first = await begin();
    const wire = connectTo(first);
    const accepted = await wire.open();
    const { jobId } = await wire.startJob('refund');
    const request = await requested(wire);
    await wire.until(({ type }) => type === 'event.emit');
    await first.close();
    const second = await begin();
    const again = connectTo(second);
    await again.open({ resume_token: accepted.payload.resume_token }, { session_id: accepted.payload.session_id });
    await again.answer('ack', again.send('resume', {}));
    await again.answer('ack', again.send('permission.grant', {}, { correlation_id: request.id }));
    expect(await again.untilEnded(jobId)).toMatchObject({ type: 'job.completed', payload: { result: 1, attempt: 2 } });
    expect(again.types().filter((type) => type === 'permission.request')).toHaveLength(1);
    expect(done).toBe(1);
  });

  test('that was answered before the next attempt is not repeated', async () => {
    let tries = 0;
    const runtime = start().tool(
      'refund',
      { ...DECLARED, retry: { maxAttempts: 2, backoffMs: 0 } },
      async (_, context) => {
        const lease = await context.permission(REFUND);
        await lease.use();
        if (tries++ === 0) throw Object.assign(new Error('once'), { name: 'TimeoutError' });
        return tries;
      },
    );
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('refund');
    wire.send('permission.grant', {}, { correlation_id: (await requested(wire)).id });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.completed', payload: { result: 2, attempt: 2 } });
    expect(wire.types().filter((type) => type === 'permission.request')).toHaveLength(1);
  });
});
