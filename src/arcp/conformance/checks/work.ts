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
  assertThat(types.includes(answer.type), `${command.type} was answered with ${answer.type}${reasonOf(answer)}`);
  return answer;
}

function reasonOf(answer: Envelope): string {
  return answer.type === 'nack' ? ` ${answer.payload.code}: ${answer.payload.message}` : '';
}

async function startSlow(bench: CheckContext, probe: Probe): Promise<string> {
  const command = invoke(probe, bench.target.job!);
  const { payload, job_id = '' } = await probe.answer(command, 'job.accepted');
  const jobId = payload.job_id ?? job_id;
  await probe.until((message) => message.type === 'job.started' && message.job_id === jobId, 'job.started');
  return jobId;
}

function endOf(probe: Probe, jobId: string): Promise<Envelope> {
  return probe.until(({ type, job_id }) => JOB_ENDS.has(type) && job_id === jobId, 'the end of the job');
}

async function resumed(bench: CheckContext, previous: Probe): Promise<Probe> {
  const [accepted] = previous.received.filter((one) => one.type === 'session.accepted');
  previous.disconnect();
  const { resume_token } = accepted!.payload;
  return bench.open({ resume_token }, { session_id: previous.sessionId });
}

function ofJob({ received: heard }: Probe, jobId: string, from = 0): Envelope[] {
  const isOfJob = ({ type, job_id }: Envelope): boolean =>
    job_id === jobId && type !== 'job.heartbeat' && type !== 'ack';
  return heard.slice(from).filter(isOfJob);
}

const checkTool = checkingSession({ needs: ['tool'] });
const checkJob = checkingSession({ needs: ['job'] });

export const WORK: readonly Check[] = [
  checkSession('unknown-tool', 'F09', 'a call to an unknown tool is refused', async (probe) => {
    const sent = probe.send('tool.invoke', { tool: 'there-is-no-such-tool' });
    const answer = await probe.answer(sent, 'nack', 'tool.error');
    assertThat(
      answer.payload.code === 'NOT_FOUND',
      `The refusal has the code ${answer.payload.code} instead of NOT_FOUND`,
    );
    await probe.ping();
  }),
  checkSession('unknown-job', 'J04 F09', 'cancellation of an unknown job is refused', async (probe) => {
    await probe.refusal(probe.send('cancel', {}, { job_id: 'job_of_nobody' }), 'NOT_FOUND', 'PERMISSION_DENIED');
  }),
  checkTool(
    'one-end',
    'F02 F05 F06 F07 E08',
    'a call is answered and ends once',
    async (probe, { target: subject }) => {
      const command = invoke(probe, subject.tool!);
      const { end, jobId } = await ended(probe, command);
      await probe.settle();
      const ends = probe.received.filter(isEndOf(command, jobId));
      assertThat(ends.length === 1, `There are ${ends.length} ends`);
      const behind = jobId === undefined ? [] : ofJob(probe, jobId).slice(ofJob(probe, jobId).indexOf(end) + 1);
      assertThat(behind.length === 0, `${behind[0]?.type} follows the end`);
    },
  ),
  checkTool(
    'sent-again',
    'E04 D02',
    'a repeated command is executed once, and answered with the first answer',
    async (probe, { target: subject }) => {
      const command = invoke(probe, subject.tool!);
      await ended(probe, command);
      const first = await answered(probe, command);
      const from = probe.received.length;
      probe.sendText(JSON.stringify(command));
      const second = await probe.until(
        ({ correlation_id }) => correlation_id === command.id,
        'the repeated answer',
        from,
      );
      assertThat(
        second.id === first.id,
        `The repeated command was answered with ${second.type} ${second.id} instead of ${first.id}`,
      );
      await probe.settle();
      const jobs = probe.received.filter(
        ({ type, correlation_id }) => type === 'job.accepted' && correlation_id === command.id,
      );
      const names = new Set(jobs.map(({ job_id }) => job_id));
      assertThat(names.size <= 1, `The repeated command started ${names.size} jobs`);
    },
  ),
  checkTool('same-id', 'E04', 'another command with the same id is refused', async (probe, { target: subject }) => {
    const command = invoke(probe, subject.tool!);
    await ended(probe, command);
    const from = probe.received.length;
    probe.sendText(JSON.stringify({ ...command, payload: { tool: subject.tool!.tool, arguments: { other: true } } }));
    await probe.anyRefusal(from, 'ALREADY_EXISTS');
  }),
  checkingSession({ level: 'should', needs: ['tool'] })(
    'operation-keys',
    'D03',
    'two commands with the same operation key are executed once',
    async (probe, { target: subject }) => {
      const key = { operation_key: `conformance:${probe.sessionId}` };
      const first = await ended(probe, invoke(probe, subject.tool!, key));
      const command = invoke(probe, subject.tool!, key);
      const second = await answered(probe, command);
      if (first.jobId !== undefined)
        assertThat(second.job_id === first.jobId, 'The second command started another job');
      else await ended(probe, command);
    },
  ),
  checkJob('replayed', 'E14 R02 R06', 'resume replays the messages of a job unchanged', async (probe, bench) => {
    const jobId = await startSlow(bench, probe);
    await probe.answer(probe.send('cancel', {}, { job_id: jobId }), 'ack');
    await endOf(probe, jobId);
    const before = ofJob(probe, jobId).map((message) => JSON.stringify(message));
    const from = probe.received.length;
    await probe.answer(probe.send('resume', {}, { job_id: jobId }), 'ack');
    const again = ofJob(probe, jobId, from).map((message) => JSON.stringify(message));
    assertThat(
      again.join() === before.join(),
      `${before.length} messages were sent, and ${again.length} or different ones replayed`,
    );
  }),
  checkJob('asynchronous', 'F01 F03', 'a job is accepted at once and runs in the background', async (probe, bench) => {
    const jobId = await startSlow(bench, probe);
    await probe.ping();
    assertThat(!ofJob(probe, jobId).some(({ type }) => JOB_ENDS.has(type)), 'The job ended at once');
    probe.send('cancel', {}, { job_id: jobId });
  }),
  checkJob('cancelled', 'J04 J19', 'a cancelled job ends once, with job.cancelled', async (probe, bench) => {
    const jobId = await startSlow(bench, probe);
    await probe.answer(probe.send('cancel', { reason: 'Not wanted' }, { job_id: jobId }), 'ack');
    const end = await endOf(probe, jobId);
    assertThat(end.type === 'job.cancelled', `The job ends with ${end.type}`);
    assertThat(end.payload.cause === 'client', `The cause is ${end.payload.cause} instead of client`);
    const late = probe.send('cancel', {}, { job_id: jobId });
    await probe.answer(late, 'ack', 'nack');
    await probe.settle();
    const ends = ofJob(probe, jobId).filter(({ type }) => JOB_ENDS.has(type));
    assertThat(ends.length === 1, `There are ${ends.length} ends`);
  }),
  checkJob('in-order', 'D04 F04', 'the messages of a job and its streams are in order', async (probe, bench) => {
    const jobId = await startSlow(bench, probe);
    await probe.settle();
    await probe.answer(probe.send('cancel', {}, { job_id: jobId }), 'ack');
    await endOf(probe, jobId);
    const [violation] = checkLog(probe.log);
    assertThat(violation === undefined, `${violation?.rule}: ${violation?.message}`);
  }),
  checkingSession({ needs: ['job', 'connections', 'other'] })(
    'other-jobs',
    'P01 R07',
    'another principal can neither cancel nor read a job',
    async (probe, bench) => {
      const jobId = await startSlow(bench, probe);
      const other = await bench.open({ auth: bench.target.otherAuth });
      const more = { job_id: jobId };
      await other.refusal(other.send('cancel', {}, more), 'NOT_FOUND', 'PERMISSION_DENIED');
      await other.refusal(other.send('resume', {}, more), 'NOT_FOUND', 'PERMISSION_DENIED');
      assertThat(
        ofJob(other, jobId).filter(({ type }) => type !== 'nack').length === 0,
        'The other principal receives messages of the job',
      );
      probe.send('cancel', {}, more);
    },
  ),
  checking({ needs: ['job', 'connections'] })(
    'reconnected',
    'D01 J03 R05 S03',
    'messages that a client missed are sent after it has reconnected, once and in order',
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
      assertThat(twice === undefined, `${twice?.type} ${twice?.id} was sent again after it was received`);
      const whole = [...first.log.filter(({ id }) => known.has(id)), ...second.log];
      const [violation] = checkLog(whole.filter((one) => one.source !== 'client'));
      assertThat(violation === undefined, `${violation?.rule}: ${violation?.message}`);
    },
  ),
];
