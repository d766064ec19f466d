/** Checks of sessions (spec 003, "Capability Negotiation", "Sessions", "Resume"). */
import { type Check, check, checking, checkSession } from '../check.js';
import { assertThat } from '../probe.js';

const NAMED = ['streaming', 'durable_jobs', 'checkpoints', 'binary_streams', 'agent_handoff'] as const;

export const SESSIONS: readonly Check[] = [
  check('nothing-before', 'N01', 'a command before session.open is refused', async ({ connect }) => {
    const probe = await connect();
    await probe.refusal(probe.send('tool.invoke', { tool: 'anything' }));
  }),
  checkSession(
    'opening',
    'N01 E07 E12',
    'session.accepted has the id of the session and the negotiated capabilities',
    async (probe) => {
      const [accepted] = probe.received.filter((one) => one.type === 'session.accepted');
      assertThat(
        accepted?.session_id === accepted?.payload.session_id,
        'The session_id of the envelope differs from that of the payload',
      );
    },
  ),
  check('agreement', 'N02', 'capabilities that the client lacks are not negotiated', async ({ open }) => {
    const probe = await open({ capabilities: Object.fromEntries(NAMED.map((name) => [name, false])) });
    const [accepted] = probe.received.filter((one) => one.type === 'session.accepted');
    for (const name of NAMED)
      assertThat(accepted?.payload.capabilities[name] !== true, `${name} was negotiated, although the client lacks it`);
  }),
  check(
    'unknown-capability',
    'N04',
    'a capability that the runtime does not know is not negotiated',
    async ({ open }) => {
      const probe = await open({ capabilities: { x_nobody_knows: true } });
      const [accepted] = probe.received.filter((one) => one.type === 'session.accepted');
      assertThat(accepted?.payload.capabilities['x_nobody_knows'] !== true, 'The unknown capability was negotiated');
    },
  ),
  check('not-agreed', 'N03', 'a command whose capability was not negotiated is refused', async ({ open }) => {
    const probe = await open({ capabilities: { checkpoints: false, agent_handoff: false } });
    await probe.refusal(probe.send('checkpoint.create', {}, { job_id: 'job_1' }), 'UNIMPLEMENTED');
    await probe.refusal(probe.send('agent.handoff', { target: 'a' }, { job_id: 'job_1' }), 'UNIMPLEMENTED');
  }),
  checkSession(
    'opened-once',
    'N01',
    'a second session on the same connection is refused, and the first continues',
    async (probe) => {
      await probe.refusal(probe.send('session.open', { capabilities: {} }, { session_id: undefined }));
      await probe.ping();
    },
  ),
  checkSession('named', 'E07', 'a command without session_id, or with another one, is refused', async (probe) => {
    await probe.refusal(probe.send('resume', {}, { session_id: undefined }));
    await probe.refusal(probe.send('resume', {}, { session_id: 'sess_of_nobody' }));
  }),
  check('alive', 'S05', 'ping is answered with its nonce, before and during a session', async ({ connect, open }) => {
    for (const probe of [await connect(), await open()]) {
      const { payload } = await probe.answer(probe.send('ping', { nonce: 'n1' }), 'pong');
      assertThat(payload.nonce === undefined || payload.nonce === 'n1', 'The nonce of pong differs from that of ping');
    }
  }),
  checkSession('closing', 'S04', 'a closed session accepts no commands', async (probe) => {
    await probe.answer(probe.send('session.close', { reason: 'done' }), 'ack');
    if (probe.hasEnded) return;
    const late = probe.send('tool.invoke', { tool: 'anything' });
    await probe
      .until(({ correlation_id }) => correlation_id === late.id || probe.hasEnded, 'a refusal')
      .then(({ type }) => assertThat(type === 'nack', `The command was answered with ${type} instead of nack`))
      .catch((thrown: unknown) => {
        if (!probe.hasEnded) throw thrown;
      });
  }),
  check('unknown-session', 'R07', 'an unknown session cannot be resumed', async ({ connect, target: { auth } }) => {
    const probe = await connect();
    const more = { session_id: 'sess_of_nobody' };
    await probe.refusal(
      probe.send('session.open', { capabilities: {}, auth }, more),
      'NOT_FOUND',
      'PERMISSION_DENIED',
      'UNAUTHENTICATED',
      'FAILED_PRECONDITION',
    );
  }),
  checking({ needs: ['connections'] })(
    'wrong-token',
    'R07',
    'a session cannot be resumed with a wrong token',
    async ({ open, connect, target: { auth } }) => {
      const { sessionId } = await open();
      const probe = await connect();
      const payload = { capabilities: {}, auth, resume_token: '0'.repeat(64) };
      await probe.refusal(
        probe.send('session.open', payload, { session_id: sessionId }),
        'NOT_FOUND',
        'PERMISSION_DENIED',
        'UNAUTHENTICATED',
      );
    },
  ),
  checking({ needs: ['connections', 'other'] })(
    'other-principal',
    'R07',
    'another principal cannot resume a session',
    async ({ open, connect, target: { otherAuth } }) => {
      const { sessionId } = await open();
      const probe = await connect();
      await probe.refusal(
        probe.send('session.open', { capabilities: {}, auth: otherAuth }, { session_id: sessionId }),
        'NOT_FOUND',
        'PERMISSION_DENIED',
      );
    },
  ),
  checkSession(
    'resume-of-nothing',
    'R06',
    'resume after an unknown message or checkpoint is refused',
    async (probe) => {
      await probe.refusal(probe.send('resume', { after_message_id: 'msg_of_nobody' }), 'NOT_FOUND', 'DATA_LOSS');
      await probe.refusal(probe.send('resume', { checkpoint_id: 'chk_of_nobody' }), 'NOT_FOUND');
    },
  ),
  checkSession('grant-of-nothing', 'P06', 'an answer to an unknown permission request is refused', async (probe) => {
    const sent = probe.send('permission.grant', { permission: 'a.b' }, { correlation_id: 'msg_of_nobody' });
    await probe.refusal(sent);
  }),
];
