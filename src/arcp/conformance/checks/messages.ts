/** Checks of single messages (spec 003, "Message Envelope", "Message Types", "Errors"). */
import { type Check, checkingSession, checkSession } from '../check.js';
import { assertThat } from '../probe.js';

const MAX_ID_LENGTH = 256;

export const MESSAGES: readonly Check[] = [
  ...(['arcp', 'id', 'type', 'timestamp', 'payload'] as const).map((name) =>
    checkSession(`without-${name}`, 'E01 F09', `a message without ${name} is refused`, async (probe) => {
      const from = probe.received.length;
      const message = { ...probe.send('ping'), [name]: undefined };
      await probe.until(({ type }) => type === 'pong', 'pong', from);
      probe.sendText(JSON.stringify({ ...message, ...(name === 'id' ? {} : { id: 'msg_without' }) }));
      await probe.anyRefusal(from, 'INVALID_ARGUMENT');
      await probe.ping();
    }),
  ),
  checkSession('no-json', 'E01 F09', 'a text that is not JSON is refused, and the session continues', async (probe) => {
    const from = probe.received.length;
    probe.sendText('{"arcp":');
    await probe.anyRefusal(from);
    await probe.ping();
  }),
  checkSession(
    'other-version',
    'E02',
    'another major version is refused, with a list of the supported ones',
    async (probe) => {
      const { payload } = await probe.refusal(probe.send('ping', {}, { arcp: '9.9' }), 'UNSUPPORTED_VERSION');
      assertThat(Array.isArray(payload.details?.['supported']), 'details.supported must list the supported versions');
      await probe.ping();
    },
  ),
  checkSession('minor-version', 'E02', 'a later minor version is accepted', async (probe) => {
    await probe.answer(probe.send('ping', {}, { arcp: '1.4' }), 'pong');
  }),
  checkSession('version-is-text', 'E02', 'a version that is not a string is refused', async (probe) => {
    await probe.refusal(probe.send('ping', {}, { arcp: 1 }), 'INVALID_ARGUMENT');
  }),
  checkSession('opaque-ids', 'E03 E12', 'ids of any form are accepted, and answers refer to them', async (probe) => {
    for (const id of ['1', 'msg_01JABC', '6f1c1a52-8f5f-4d0e-9f5b-0f0d3e2a1b00', 'x'.repeat(MAX_ID_LENGTH)]) {
      const pong = await probe.answer(probe.send('ping', {}, { id }), 'pong');
      assertThat(pong.payload.ack_for === id, `ack_for of pong is ${pong.payload.ack_for} instead of ${id}`);
    }
  }),
  checkSession(
    'timestamps',
    'E05',
    'timestamps of RFC 3339 are accepted in all forms, and others are refused',
    async (probe) => {
      for (const timestamp of ['2026-05-07T21:30:00Z', '2026-05-07t21:30:00.5z', '2026-05-07T23:30:00.123456+02:00'])
        await probe.answer(probe.send('ping', {}, { timestamp }), 'pong');
      for (const timestamp of ['yesterday', '2026-05-07', '2026-13-07T21:30:00Z', 1778189400])
        await probe.refusal(probe.send('ping', {}, { timestamp }), 'INVALID_ARGUMENT');
    },
  ),
  checkSession('stream-needs-id', 'E09', 'a chunk without stream_id is refused', async (probe) => {
    await probe.refusal(probe.send('stream.chunk', { sequence: 0, data: 'x' }), 'INVALID_ARGUMENT');
  }),
  checkSession('payload-is-judged', 'E15 F09', 'a payload that does not match its type is refused', async (probe) => {
    await probe.refusal(probe.send('tool.invoke', { tool: 7 }), 'INVALID_ARGUMENT');
    await probe.refusal(probe.send('tool.invoke', {}), 'INVALID_ARGUMENT');
    await probe.ping();
  }),
  checkSession('unknown-members', 'E16', 'unknown members are accepted', async (probe) => {
    await probe.answer(probe.send('ping', { x_acme: { deep: [1] } }, { x_acme: 1 }), 'pong');
  }),
  checkSession('unknown-type', 'M02 F09', 'an unknown type is refused, and the session continues', async (probe) => {
    await probe.refusal(probe.send('job.nonsense'), 'UNIMPLEMENTED');
    await probe.ping();
  }),
  checkSession('roles', 'M03', 'a message that only runtimes may send is refused', async (probe) => {
    const payload = { attempt: 1, completed_at: '2026-05-07T21:30:00Z' };
    await probe.refusal(probe.send('job.completed', payload, { job_id: 'job_1' }), 'PERMISSION_DENIED');
  }),
  checkingSession({ level: 'should' })(
    'traced',
    'E10',
    'each message has a span, in the trace of its command',
    async (probe) => {
      const sent = probe.send('ping');
      const pong = await probe.answer(sent, 'pong');
      assertThat(pong.trace_id === sent['trace_id'], 'The answer has another trace_id than its command');
      for (const { type, trace_id, span_id } of probe.received)
        assertThat(trace_id !== undefined && span_id !== undefined, `${type} has no trace_id or no span_id`);
    },
  ),
  checkSession('errors', 'X01', 'an error has a code, a message and retryable', async (probe) => {
    const { payload } = await probe.refusal(probe.send('tool.invoke', { tool: 'there-is-no-such-tool' }));
    assertThat(/^[A-Z][A-Z0-9_.]*$/.test(payload.code), `${payload.code} is not a valid error code`);
    assertThat(payload.message.length > 0, 'The message of the error is empty');
    assertThat(payload.retryable !== undefined, 'The error has no retryable');
  }),
];
