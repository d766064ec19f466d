/** Execution of one command in a session of its own. */
import { after } from '../../async/timers.js';
import { memoryChannels } from '../../channels/memory.js';
import { tryParseEnvelope } from '../protocol/codec.js';
import { ARCP_VERSION, type Envelope } from '../protocol/envelope.js';
import { ArcpError } from '../protocol/errors.js';
import { formatTimestamp, newId } from '../protocol/ids.js';
import type { Runtime } from '../runtime/runtime.js';

/** A command, and the credentials of its sender. */
export interface Submission {
  /** The `auth` of the session. */
  readonly auth?: { readonly scheme: string; readonly token?: string | undefined } | undefined;
  /** The command, with an id that is its own in all deliveries. */
  readonly command: Readonly<Record<string, unknown>> & { readonly id: string };
}

/** The answer to a command: it was accepted, or refused. */
export type Answer = Envelope<'job.accepted' | 'nack'>;

const CAPABILITIES = { streaming: true, durable_jobs: true, checkpoints: true, agent_handoff: true };

/**
 * Opens a session with the credentials of the sender, and executes the command as a durable job. The runtime executes a command with the same
 * id once. Resolves with the answer when it is stored.
 *
 * @throws ArcpError `UNAVAILABLE` if the runtime ends first; `DEADLINE_EXCEEDED` without an answer in time
 */
export async function submit(
  runtime: Runtime,
  { auth, command }: Submission,
  { kind, timeoutMs }: { readonly kind: string; readonly timeoutMs: number },
): Promise<Answer> {
  const [here, there] = memoryChannels();
  const write = (message: Readonly<Record<string, unknown>>): void =>
    here.send(
      JSON.stringify({ arcp: ARCP_VERSION, timestamp: formatTimestamp(Date.now()), id: newId('msg'), ...message }),
    );
  let cancel = (): void => undefined;
  const answered = new Promise<Answer>((resolve, reject) => {
    const open = newId('msg');
    let sessionId: string | undefined;
    cancel = after(timeoutMs, () => reject(new ArcpError('DEADLINE_EXCEEDED', 'The runtime has not answered')));
    const receive = (message: Envelope): void => {
      const { type, correlation_id: to } = message;
      if (type === 'ping') write({ type: 'pong', correlation_id: message.id, payload: { ack_for: message.id } });
      else if (type === 'nack' && (to === open || to === command.id)) resolve(message as Answer);
      else if (type === 'session.accepted' && to === open) {
        sessionId = message.session_id;
        write({ ...command, session_id: sessionId });
      } else if (type === 'job.accepted' && to === command.id) resolve(message as Answer);
    };
    here.start({
      text: (text) => {
        const result = tryParseEnvelope(text);
        if (result.ok) receive(result.value);
      },
      invalid: () => undefined,
      tooLong: () => undefined,
      ended: () => reject(new ArcpError('UNAVAILABLE', 'The runtime has ended the connection')),
    });
    runtime.accept(there, { kind }).catch(reject);
    write({ id: open, type: 'session.open', payload: { capabilities: CAPABILITIES, mode: 'durable', auth } });
  });
  try {
    const answer = await answered;
    // The job continues without the session.
    if (answer.type === 'job.accepted') write({ type: 'session.close', payload: { jobs: 'detach' } });
    return answer;
  } finally {
    cancel();
    void here.end().then(() => here.destroy());
  }
}
