/** Checks of sessions (spec 003, "Capability Negotiation", "Sessions", "Resume"). */
import { assertThat } from '../probe.js';
import type { Check } from '../types.js';

/** What the protocol has names for. */
const NAMED = ['streaming', 'durable_jobs', 'checkpoints', 'binary_streams', 'agent_handoff'] as const;

export const SESSIONS: readonly Check[] = [
  {
    id: 'nothing-before',
    requirements: ['N01'],
    title: 'nothing is done before a session is open',
    run: async ({ connect }) => {
      const probe = await connect();
      await probe.refusal(probe.send('tool.invoke', { tool: 'anything' }));
    },
  },
  {
    id: 'opening',
    requirements: ['N01', 'E07', 'E12'],
    title: 'a session is told by its id, with what was agreed on',
    run: async ({ open }) => {
      const probe = await open();
      const [accepted] = probe.heard.filter((one) => one.type === 'session.accepted');
      assertThat(accepted?.session_id === accepted?.payload.session_id, 'The envelope names another session, or none');
    },
  },
  {
    id: 'agreement',
    requirements: ['N02'],
    title: 'what the client cannot do is not agreed on',
    run: async ({ open }) => {
      const probe = await open({ capabilities: Object.fromEntries(NAMED.map((name) => [name, false])) });
      const [accepted] = probe.heard.filter((one) => one.type === 'session.accepted');
      for (const name of NAMED)
        assertThat(accepted?.payload.capabilities[name] !== true, `${name} is agreed on, and one side cannot do it`);
    },
  },
  {
    id: 'unknown-capability',
    requirements: ['N04'],
    title: 'a capability that only the client has is not told back',
    run: async ({ open }) => {
      const probe = await open({ capabilities: { x_nobody_knows: true } });
      const [accepted] = probe.heard.filter((one) => one.type === 'session.accepted');
      assertThat(accepted?.payload.capabilities['x_nobody_knows'] !== true, 'It is told back as agreed on');
    },
  },
  {
    id: 'not-agreed',
    requirements: ['N03'],
    title: 'what was not agreed on is refused',
    run: async ({ open }) => {
      const probe = await open({ capabilities: { checkpoints: false, agent_handoff: false } });
      await probe.refusal(probe.send('checkpoint.create', {}, { job_id: 'job_1' }), 'UNIMPLEMENTED');
      await probe.refusal(probe.send('agent.handoff', { target: 'a' }, { job_id: 'job_1' }), 'UNIMPLEMENTED');
    },
  },
  {
    id: 'opened-once',
    requirements: ['N01'],
    title: 'a second session on the same connection is refused, and the first goes on',
    run: async ({ open }) => {
      const probe = await open();
      await probe.refusal(probe.send('session.open', { capabilities: {} }, { session_id: undefined }));
      await probe.ping();
    },
  },
  {
    id: 'named',
    requirements: ['E07'],
    title: 'a command that names no session, or another one, is refused',
    run: async ({ open }) => {
      const probe = await open();
      await probe.refusal(probe.send('resume', {}, { session_id: undefined }));
      await probe.refusal(probe.send('resume', {}, { session_id: 'sess_of_nobody' }));
    },
  },
  {
    id: 'alive',
    requirements: ['S05'],
    title: 'ping is answered, with its nonce, before and in a session',
    run: async ({ connect, open }) => {
      for (const probe of [await connect(), await open()]) {
        const { payload } = await probe.answer(probe.send('ping', { nonce: 'n1' }), 'pong');
        assertThat(payload.nonce === undefined || payload.nonce === 'n1', 'pong has another nonce');
      }
    },
  },
  {
    id: 'closing',
    requirements: ['S04'],
    title: 'a session that was closed takes no more commands',
    run: async ({ open }) => {
      const probe = await open();
      await probe.answer(probe.send('session.close', { reason: 'done' }), 'ack');
      if (probe.hasEnded) return;
      const late = probe.send('tool.invoke', { tool: 'anything' });
      await probe
        .until(({ correlation_id }) => correlation_id === late.id || probe.hasEnded, 'a refusal')
        .then(({ type }) => assertThat(type === 'nack', `It is answered by ${type}`))
        .catch((thrown: unknown) => {
          // It has hung up, which says the same.
          if (!probe.hasEnded) throw thrown;
        });
    },
  },
  {
    id: 'session-of-nobody',
    requirements: ['R07'],
    title: 'a session that there is none of is not taken up',
    run: async ({ connect, subject: { auth } }) => {
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
  },
  {
    id: 'wrong-token',
    requirements: ['R07'],
    title: 'a session is not taken up by who has not its token',
    needs: ['connections'],
    run: async ({ open, connect, subject: { auth } }) => {
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
  },
  {
    id: 'other-principal',
    requirements: ['R07'],
    title: 'somebody else takes no session up',
    needs: ['connections', 'other'],
    run: async ({ open, connect, subject: { otherAuth } }) => {
      const { sessionId } = await open();
      const probe = await connect();
      await probe.refusal(
        probe.send('session.open', { capabilities: {}, auth: otherAuth }, { session_id: sessionId }),
        'NOT_FOUND',
        'PERMISSION_DENIED',
      );
    },
  },
  {
    id: 'resume-of-nothing',
    requirements: ['R06'],
    title: 'resuming behind a message that nobody knows is refused',
    run: async ({ open }) => {
      const probe = await open();
      await probe.refusal(probe.send('resume', { after_message_id: 'msg_of_nobody' }), 'NOT_FOUND', 'DATA_LOSS');
      await probe.refusal(probe.send('resume', { checkpoint_id: 'chk_of_nobody' }), 'NOT_FOUND');
    },
  },
  {
    id: 'grant-of-nothing',
    requirements: ['P06'],
    title: 'an answer to a request that nobody has made is refused',
    run: async ({ open }) => {
      const probe = await open();
      const sent = probe.send('permission.grant', { permission: 'a.b' }, { correlation_id: 'msg_of_nobody' });
      await probe.refusal(sent);
    },
  },
];
