/** Checks of calls and jobs (spec 003, "Invocation Flow", "Delivery Semantics", "Jobs", "Resume"). */
import { checkLog } from '../../logs/check.js';
import type { Envelope } from '../../protocol/envelope.js';
import { type Call, type Check, type CheckContext, checking, checkingSession, checkSession } from '../check.js';
import { assertThat, type Fields, type Probe, type Sent } from '../probe.js';

const DIRECT_ENDS: ReadonlySet<string> = new Set(['tool.result', 'tool.error']);
const JOB_ENDS: ReadonlySet<string> = new Set(['job.completed', 'job.failed', 'job.cancelled']);

function invoke(probe: Probe, { tool, arguments: args }: Call, more: Fields = {}): Sent {
  return probe.send('tool.invoke', { tool, arguments: args, ...more });
}

async function ended(
  probe: Probe,
  command: Sent,
): Promise<{ readonly end: Envelope; readonly jobId?: string | undefined }> {
  const answer = await answered(probe, command);
  if (DIRECT_ENDS.has(answer.type)) return { end: answer };
  const jobId = answer.type === 'job.accepted' ? answer.payload.job_id : undefined;
  return { end: await probe.until(isEndOf(command, jobId), `the end of ${command.type}`), jobId };
}

function isEndOf({ id }: Sent, jobId: string | undefined): (message: Envelope) => boolean {
  return ({ type, correlation_id, job_id }) =>
    jobId === undefined ? DIRECT_ENDS.has(type) && correlation_id === id : JOB_ENDS.has(type) && job_id === jobId;
}

async function answered(probe: Probe, command: Sent): Promise<Envelope> {
  const answer = await probe.until(
    ({ correlation_id }) => correlation_id === command.id,
    `an answer to ${command.type}`,
  );
  const types = ['ack', 'job.accepted', ...DIRECT_ENDS];
  assertThat(types.includes(answer.type), `${command.type} is answered by ${answer.type}${reasonOf(answer)}`);
  return answer;
}

function reasonOf(answer: Envelope): string {
  return answer.type === 'nack' ? ` ${answer.payload.code}: ${answer.payload.message}` : '';
}

async function startSlow(bench: CheckContext, probe: Probe): Promise<string> {
  const command = invoke(probe, bench.target.slow!);
  const { payload, job_id = '' } = await probe.answer(command, 'job.accepted');
  const jobId = payload.job_id ?? job_id;
  await probe.until((message) => message.type === 'job.started' && message.job_id === jobId, 'job.started');
  return jobId;
}

function endOf(probe: Probe, jobId: string): Promise<Envelope> {
  return probe.until(({ type, job_id }) => JOB_ENDS.has(type) && job_id === jobId, 'the end of the job');
}

async function resumed(bench: CheckContext, former: Probe): Promise<Probe> {
  const [accepted] = former.received.filter((one) => one.type === 'session.accepted');
  former.disconnect();
  const { resume_token } = accepted!.payload;
  return bench.open({ resume_token }, { session_id: former.sessionId });
}

function ofJob({ received: heard }: Probe, jobId: string, from = 0): Envelope[] {
  const isOfJob = ({ type, job_id }: Envelope): boolean =>
    job_id === jobId && type !== 'job.heartbeat' && type !== 'ack';
  return heard.slice(from).filter(isOfJob);
}

const checkQuick = checkingSession({ needs: ['quick'] });
const checkSlow = checkingSession({ needs: ['slow'] });

export const WORK: readonly Check[] = [
  checkSession('unknown-tool', 'F09', 'a tool that there is none of is refused', async (probe) => {
    const sent = probe.send('tool.invoke', { tool: 'there-is-no-such-tool' });
    const answer = await probe.answer(sent, 'nack', 'tool.error');
    assertThat(answer.payload.code === 'NOT_FOUND', `It is refused with ${answer.payload.code}`);
    await probe.ping();
  }),
  checkSession('unknown-job', 'J04 F09', 'a job that there is none of is not cancelled', async (probe) => {
    await probe.refusal(probe.send('cancel', {}, { job_id: 'job_of_nobody' }), 'NOT_FOUND', 'PERMISSION_DENIED');
  }),
  checkQuick(
    'one-end',
    'F02 F05 F06 F07 E08',
    'a call is answered, and ends once',
    async (probe, { target: subject }) => {
      const command = invoke(probe, subject.quick!);
      const { end, jobId } = await ended(probe, command);
      await probe.settle();
      const ends = probe.received.filter(isEndOf(command, jobId));
      assertThat(ends.length === 1, `It ends ${ends.length} times`);
      const behind = jobId === undefined ? [] : ofJob(probe, jobId).slice(ofJob(probe, jobId).indexOf(end) + 1);
      assertThat(behind.length === 0, `${behind[0]?.type} comes behind its end`);
    },
  ),
  checkQuick(
    'sent-again',
    'E04 D02',
    'a command that is sent again is carried out once, and answered as it was',
    async (probe, { target: subject }) => {
      const command = invoke(probe, subject.quick!);
      await ended(probe, command);
      const first = await answered(probe, command);
      const from = probe.received.length;
      probe.sendText(JSON.stringify(command));
      const second = await probe.until(
        ({ correlation_id }) => correlation_id === command.id,
        'the answer once more',
        from,
      );
      assertThat(second.id === first.id, `It is answered by ${second.type} ${second.id}, and was by ${first.id}`);
      await probe.settle();
      const jobs = probe.received.filter(
        ({ type, correlation_id }) => type === 'job.accepted' && correlation_id === command.id,
      );
      const names = new Set(jobs.map(({ job_id }) => job_id));
      assertThat(names.size <= 1, `It is ${names.size} jobs`);
    },
  ),
  checkQuick('same-id', 'E04', 'another command of the same id is refused', async (probe, { target: subject }) => {
    const command = invoke(probe, subject.quick!);
    await ended(probe, command);
    const from = probe.received.length;
    probe.sendText(JSON.stringify({ ...command, payload: { tool: subject.quick!.tool, arguments: { other: true } } }));
    await probe.anyRefusal(from, 'ALREADY_EXISTS');
  }),
  checkingSession({ level: 'should', needs: ['quick'] })(
    'operation-keys',
    'D03',
    'of two commands with one operation key one is carried out',
    async (probe, { target: subject }) => {
      const key = { operation_key: `conformance:${probe.sessionId}` };
      const first = await ended(probe, invoke(probe, subject.quick!, key));
      const command = invoke(probe, subject.quick!, key);
      const second = await answered(probe, command);
      if (first.jobId !== undefined)
        assertThat(second.job_id === first.jobId, 'It is another job, and not the one that there is');
      else await ended(probe, command);
    },
  ),
  checkSlow('told-again', 'E14 R02 R06', 'what was said of a job is said again as it was', async (probe, bench) => {
    const jobId = await startSlow(bench, probe);
    await probe.answer(probe.send('cancel', {}, { job_id: jobId }), 'ack');
    await endOf(probe, jobId);
    const before = ofJob(probe, jobId).map((message) => JSON.stringify(message));
    const from = probe.received.length;
    await probe.answer(probe.send('resume', {}, { job_id: jobId }), 'ack');
    const again = ofJob(probe, jobId, from).map((message) => JSON.stringify(message));
    assertThat(
      again.join() === before.join(),
      `${before.length} messages were said, and ${again.length} are said again, or others`,
    );
  }),
  checkSlow(
    'asynchronous',
    'F01 F03',
    'a job is accepted at once, begun, and goes on meanwhile',
    async (probe, bench) => {
      const jobId = await startSlow(bench, probe);
      await probe.ping();
      assertThat(!ofJob(probe, jobId).some(({ type }) => JOB_ENDS.has(type)), 'It has ended at once: it is not slow');
      probe.send('cancel', {}, { job_id: jobId });
    },
  ),
  checkSlow('cancelled', 'J04 J19', 'a job that is cancelled ends so, and only once', async (probe, bench) => {
    const jobId = await startSlow(bench, probe);
    await probe.answer(probe.send('cancel', { reason: 'Not wanted' }, { job_id: jobId }), 'ack');
    const end = await endOf(probe, jobId);
    assertThat(end.type === 'job.cancelled', `It ends with ${end.type}`);
    assertThat(end.payload.cause === 'client', `Its cause is ${end.payload.cause}`);
    const late = probe.send('cancel', {}, { job_id: jobId });
    await probe.answer(late, 'ack', 'nack');
    await probe.settle();
    const ends = ofJob(probe, jobId).filter(({ type }) => JOB_ENDS.has(type));
    assertThat(ends.length === 1, `It ends ${ends.length} times`);
  }),
  checkSlow('in-order', 'D04 F04', 'what is said of a job and its streams is in order', async (probe, bench) => {
    const jobId = await startSlow(bench, probe);
    await probe.settle();
    await probe.answer(probe.send('cancel', {}, { job_id: jobId }), 'ack');
    await endOf(probe, jobId);
    const [violation] = checkLog(probe.log);
    assertThat(violation === undefined, `${violation?.rule}: ${violation?.message}`);
  }),
  checkingSession({ needs: ['slow', 'connections', 'other'] })(
    'other-jobs',
    'P01 R07',
    'somebody else neither cancels nor reads a job',
    async (probe, bench) => {
      const jobId = await startSlow(bench, probe);
      const other = await bench.open({ auth: bench.target.otherAuth });
      const more = { job_id: jobId };
      await other.refusal(other.send('cancel', {}, more), 'NOT_FOUND', 'PERMISSION_DENIED');
      await other.refusal(other.send('resume', {}, more), 'NOT_FOUND', 'PERMISSION_DENIED');
      assertThat(ofJob(other, jobId).filter(({ type }) => type !== 'nack').length === 0, 'They are told of it');
      probe.send('cancel', {}, more);
    },
  ),
  checking({ needs: ['slow', 'connections'] })(
    'reconnected',
    'D01 J03 R05 S03',
    'what was said while nobody was there is said afterwards, once and in order',
    async (bench) => {
      const first = await bench.open();
      const jobId = await startSlow(bench, first);
      const seen = first.received.findLast(({ type, job_id }) => job_id === jobId && type !== 'job.heartbeat')!;
      const second = await resumed(bench, first);
      await second.answer(second.send('resume', { after_message_id: seen.id }), 'ack');
      await second.answer(second.send('cancel', {}, { job_id: jobId }), 'ack');
      await endOf(second, jobId);
      const known = new Set(first.received.slice(0, first.received.indexOf(seen) + 1).map(({ id }) => id));
      const twice = second.received.find(({ id, type }) => known.has(id) && type !== 'session.accepted');
      assertThat(twice === undefined, `${twice?.type} ${twice?.id} is said again, and was seen`);
      const whole = [...first.log.filter(({ id }) => known.has(id)), ...second.log];
      const [violation] = checkLog(whole.filter((one) => one.source !== 'client'));
      assertThat(violation === undefined, `${violation?.rule}: ${violation?.message}`);
    },
  ),
];
