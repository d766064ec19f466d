/**
 * Conformance checks for ARCP runtimes of any implementation, by their messages. Public as `pegwire/arcp/conformance`.
 *
 * Each check tests numbered requirements, which `conformance/requirements/arcp.json` of this package describes.
 *
 * Source: spec 003.
 */
import { assertDurations } from '../../async/durations.js';
import type { Check, CheckContext, CheckPrerequisite, CheckResult, CheckTarget } from './check.js';
import { MESSAGES } from './checks/messages.js';
import { SESSIONS } from './checks/sessions.js';
import { WORK } from './checks/work.js';
import { Mismatch, Probe } from './probe.js';

export type { Auth, Call, CheckOutcome, CheckPrerequisite, CheckResult, CheckTarget } from './check.js';
export { isFromClient, type ReplayOptions, type ReplayStep, replayLog } from './replay.js';

/** All checks, in the order in which they run. */
export const CHECKS: readonly Pick<Check, 'id' | 'requirements' | 'title' | 'level' | 'needs'>[] = [
  ...MESSAGES,
  ...SESSIONS,
  ...WORK,
];

const CAPABILITIES = { streaming: true, durable_jobs: true, checkpoints: true, agent_handoff: true };

const LACKING: Readonly<Record<CheckPrerequisite, string>> = {
  tool: 'The target has no tool call',
  job: 'The target has no job call',
  connections: 'Each connection of the target reaches another runtime',
  other: 'The target has no otherAuth',
};

/**
 * Checks a runtime. The checks run one after the other, each on its own connections.
 *
 * @throws the error of `dial` if the runtime cannot be reached
 * @throws TypeError if `timeoutMs` is invalid
 * @example
 * for await (const { id, outcome, reason } of checkRuntime({ dial, tool: { tool: 'echo' } })) console.log(outcome, id, reason ?? '');
 */
export async function* checkRuntime(target: CheckTarget): AsyncGenerator<CheckResult> {
  assertDurations({ timeoutMs: target.timeoutMs });
  // A missing runtime is reported once, not by each check.
  (await target.dial()).destroy();
  for (const check of [...MESSAGES, ...SESSIONS, ...WORK]) yield await runCheck(check, target);
}

async function runCheck(check: Check, target: CheckTarget): Promise<CheckResult> {
  const { id, requirements, title, level = 'must', needs = [] } = check;
  const about = { id, requirements, title };
  const lacking = needs.find((need) => !has(target, need));
  if (lacking !== undefined) return { ...about, outcome: 'skipped', reason: LACKING[lacking] };
  const probes: Probe[] = [];
  try {
    await check.run(contextOf(target, probes));
    const [invalid] = probes.flatMap(({ invalidMessages }) => invalidMessages);
    if (invalid !== undefined) throw new Mismatch(`The runtime sent an invalid message: ${invalid}`);
    return { ...about, outcome: 'passed' };
  } catch (thrown) {
    const reason = thrown instanceof Mismatch ? thrown.message : String(thrown);
    const transcript = probes.flatMap((probe) => probe.transcript);
    return { ...about, outcome: level === 'must' ? 'failed' : 'warned', reason, transcript };
  } finally {
    for (const probe of probes) probe.disconnect();
  }
}

function has({ tool, job, isShared = true, otherAuth }: CheckTarget, need: CheckPrerequisite): boolean {
  return {
    tool: tool !== undefined,
    job: job !== undefined,
    connections: isShared,
    other: otherAuth !== undefined,
  }[need];
}

function contextOf(target: CheckTarget, probes: Probe[]): CheckContext {
  const connect = async (): Promise<Probe> => {
    const probe = new Probe(await target.dial(), target.timeoutMs ?? 5000);
    probes.push(probe);
    return probe;
  };
  const open: CheckContext['open'] = async (payload = {}, more = {}) => {
    const probe = await connect();
    const { auth } = target;
    const full = { capabilities: CAPABILITIES, auth, ...payload };
    const sent = probe.send('session.open', full, more);
    const answer = await probe.answer(sent, 'session.accepted', 'nack');
    if (answer.type === 'nack')
      throw new Mismatch(`session.open was refused with ${answer.payload.code}: ${answer.payload.message}`);
    probe.sessionId = answer.payload.session_id;
    return probe;
  };
  return { target, connect, open };
}
