/** Checks of sessions (spec 003, "Capability Negotiation", "Sessions", "Resume"). */
import { type Check, check, checking, checkSession } from '../check.js';
import { assertThat } from '../probe.js';

const NAMED = ['streaming', 'durable_jobs', 'checkpoints', 'binary_streams', 'agent_handoff'] as const;

export const SESSIONS: readonly Check[] = [
  check('nothing-before', 'N01', 'nothing is done before a session is open', async ({ connect }) => {
    const probe = await connect();
    await probe.refusal(probe.send('tool.invoke', { tool: 'anything' }));
  }),
  checkSession('opening', 'N01 E07 E12', 'a session is told by its id, with what was agreed on', async (probe) => {
    const [accepted] = probe.received.filter((one) => one.type === 'session.accepted');
    assertThat(accepted?.session_id === accepted?.payload.session_id, 'The envelope names another session, or none');
  }),
  check('agreement', 'N02', 'what the client cannot do is not agreed on', async ({ open }) => {
    const probe = await open({ capabilities: Object.fromEntries(NAMED.map((name) => [name, false])) });
    const [accepted] = probe.received.filter((one) => one.type === 'session.accepted');
    for (const name of NAMED)
      assertThat(accepted?.payload.capabilities[name] !== true, `${name} is agreed on, and one side cannot do it`);
  }),
  check('unknown-capability', 'N04', 'a capability that only the client has is not told back', async ({ open }) => {
    const probe = await open({ capabilities: { x_nobody_knows: true } });
    const [accepted] = probe.received.filter((one) => one.type === 'session.accepted');
    assertThat(accepted?.payload.capabilities['x_nobody_knows'] !== true, 'It is told back as agreed on');
  }),
  check('not-agreed', 'N03', 'what was not agreed on is refused', async ({ open }) => {
    const probe = await open({ capabilities: { checkpoints: false, agent_handoff: false } });
    await probe.refusal(probe.send('checkpoint.create', {}, { job_id: 'job_1' }), 'UNIMPLEMENTED');
    await probe.refusal(probe.send('agent.handoff', { target: 'a' }, { job_id: 'job_1' }), 'UNIMPLEMENTED');
  }),
  checkSession(
    'opened-once',
    'N01',
    'a second session on the same connection is refused, and the first goes on',
    async (probe) => {
      await probe.refusal(probe.send('session.open', { capabilities: {} }, { session_id: undefined }));
      await probe.ping();
    },
  ),
  checkSession('named', 'E07', 'a command that names no session, or another one, is refused', async (probe) => {
    await probe.refusal(probe.send('resume', {}, { session_id: undefined }));
    await probe.refusal(probe.send('resume', {}, { session_id: 'sess_of_nobody' }));
  }),
  check('alive', 'S05', 'ping is answered, with its nonce, before and in a session', async ({ connect, open }) => {
    for (const probe of [await connect(), await open()]) {
      const { payload } = await probe.answer(probe.send('ping', { nonce: 'n1' }), 'pong');
      assertThat(payload.nonce === undefined || payload.nonce === 'n1', 'pong has another nonce');
    }
  }),
  checkSession('closing', 'S04', 'a session that was closed takes no more commands', async (probe) => {
    await probe.answer(probe.send('session.close', { reason: 'done' }), 'ack');
    if (probe.hasEnded) return;
    const late = probe.send('tool.invoke', { tool: 'anything' });
    await probe
      .until(({ correlation_id }) => correlation_id === late.id || probe.hasEnded, 'a refusal')
      .then(({ type }) => assertThat(type === 'nack', `It is answered by ${type}`))
      .catch((thrown: unknown) => {
        if (!probe.hasEnded) throw thrown;
      });
  }),
  check(
    'session-of-nobody',
    'R07',
    'a session that there is none of is not taken up',
    async ({ connect, target: { auth } }) => {
      const probe = await connect();
      const more = { session_id: 'sess_of_nobody' };
      await probe.refusal(
        probe.send('session.open', { capabilities: {}, auth }, more),
        'NOT_FOUND',
        'PERMISSION_DENIED',
        'UNAUTHENTICATED',
        'FAILED_PRECONDITION',
      );
    },
  ),
  checking({ needs: ['connections'] })(
    'wrong-token',
    'R07',
    'a session is not taken up by who has not its token',
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
    'somebody else takes no session up',
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
  checkSession('resume-of-nothing', 'R06', 'resuming behind a message that nobody knows is refused', async (probe) => {
    await probe.refusal(probe.send('resume', { after_message_id: 'msg_of_nobody' }), 'NOT_FOUND', 'DATA_LOSS');
    await probe.refusal(probe.send('resume', { checkpoint_id: 'chk_of_nobody' }), 'NOT_FOUND');
  }),
  checkSession('grant-of-nothing', 'P06', 'an answer to a request that nobody has made is refused', async (probe) => {
    const sent = probe.send('permission.grant', { permission: 'a.b' }, { correlation_id: 'msg_of_nobody' });
    await probe.refusal(sent);
  }),
];
