/**
 * Whether a runtime is one: a check from outside, of any runtime that can be reached, by what it says.
 *
 * Each check is for a numbered requirement; what the numbers stand for is in `conformance/requirements/arcp.json` of this package. Public as
 * `pegwire/arcp/conformance`.
 *
 * Source: spec 003.
 */
import type { Bench, Check, CheckPrerequisite, CheckResult, CheckTarget } from './check.js';
import { MESSAGES } from './checks/messages.js';
import { SESSIONS } from './checks/sessions.js';
import { WORK } from './checks/work.js';
import { Mismatch, Probe } from './probe.js';

export type { Auth, Call, CheckOutcome, CheckPrerequisite, CheckResult, CheckTarget } from './check.js';
export { isFromClient, type ReplayOptions, type ReplayStep, replayLog } from './replay.js';

/** All checks, in their order. */
export const CHECKS: readonly Pick<Check, 'id' | 'requirements' | 'title' | 'level' | 'needs'>[] = [
  ...MESSAGES,
  ...SESSIONS,
  ...WORK,
];

const CAPABILITIES = { streaming: true, durable_jobs: true, checkpoints: true, agent_handoff: true };

const LACKING: Readonly<Record<CheckPrerequisite, string>> = {
  quick: 'No tool was named that may be called',
  slow: 'No tool was named that becomes a job',
  connections: 'Each connection has a runtime of its own',
  other: 'Nobody else was named',
};

/**
 * Checks a runtime, one requirement after the other. Each check has connections of its own.
 *
 * @throws what the dial function throws where there is no first connection
 * @example
 * for await (const { id, outcome, reason } of checkRuntime({ dial, quick: { tool: 'echo' } })) console.log(outcome, id, reason ?? '');
 */
export async function* checkRuntime(subject: CheckTarget): AsyncGenerator<CheckResult> {
  // A missing runtime is reported once, not by each check.
  (await subject.dial()).destroy();
  for (const check of [...MESSAGES, ...SESSIONS, ...WORK]) yield await carriedOut(check, subject);
}

async function carriedOut(check: Check, subject: CheckTarget): Promise<CheckResult> {
  const { id, requirements, title, level = 'must', needs = [] } = check;
  const told = { id, requirements, title };
  const lacking = needs.find((need) => !has(subject, need));
  if (lacking !== undefined) return { ...told, outcome: 'skipped', reason: LACKING[lacking] };
  const probes: Probe[] = [];
  try {
    await check.run(benchOf(subject, probes));
    const [fault] = probes.flatMap(({ faults }) => faults);
    if (fault !== undefined) throw new Mismatch(`It says something that is no message: ${fault}`);
    return { ...told, outcome: 'passed' };
  } catch (thrown) {
    const reason = thrown instanceof Mismatch ? thrown.message : String(thrown);
    const transcript = probes.flatMap((probe) => probe.transcript);
    return { ...told, outcome: level === 'must' ? 'failed' : 'warned', reason, transcript };
  } finally {
    for (const probe of probes) probe.cut();
  }
}

function has({ quick, slow, isShared = true, otherAuth }: CheckTarget, need: CheckPrerequisite): boolean {
  return {
    quick: quick !== undefined,
    slow: slow !== undefined,
    connections: isShared,
    other: otherAuth !== undefined,
  }[need];
}

function benchOf(subject: CheckTarget, probes: Probe[]): Bench {
  const connect = async (): Promise<Probe> => {
    const probe = new Probe(await subject.dial(), subject.timeoutMs ?? 5000);
    probes.push(probe);
    return probe;
  };
  const open: Bench['open'] = async (payload = {}, more = {}) => {
    const probe = await connect();
    const { auth } = subject;
    const whole = { capabilities: CAPABILITIES, auth, ...payload };
    const sent = probe.send('session.open', whole, more);
    const answer = await probe.answer(sent, 'session.accepted', 'nack');
    if (answer.type === 'nack')
      throw new Mismatch(`No session is opened: ${answer.payload.code}: ${answer.payload.message}`);
    probe.sessionId = answer.payload.session_id;
    return probe;
  };
  return { subject, connect, open };
}
