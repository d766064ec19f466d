/** Drafts of messages: envelopes, frames, calls, and answers to what was received. */
import type { Frame } from '../../accp/ast.js';
import { type Content, type Members, type Message, members } from './message.js';

/** The beginning of a message to send. */
export interface Draft {
  readonly session: string;
  readonly side: 'client' | 'server';
  readonly form: Form;
  readonly type?: string | undefined;
  readonly ids?: Readonly<Record<string, string | undefined>> | undefined;
  readonly text?: string | undefined;
  readonly frame?: Frame | undefined;
}

/** The form with which a message is made. */
export type Form = 'arcp' | 'accp' | 'raw';

/** An answer that the page offers. */
export interface Answer {
  readonly title: string;
  readonly draft: Draft;
}

/** Returns a random identifier of 12 hex digits, the first of which is a letter. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return `a${[...bytes]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .slice(1)}`;
}

/** Returns an envelope of ARCP as text. */
export function envelopeText(
  type: string,
  payload: unknown,
  ids: Readonly<Record<string, string | undefined>>,
): string {
  const head = { arcp: '1.0', id: `msg_${randomId()}`, type, timestamp: new Date().toISOString() };
  const given = Object.entries(ids).filter(([, value]) => value !== undefined && value !== '');
  return JSON.stringify({ ...head, ...Object.fromEntries(given), payload });
}

/** Returns the grant or denial of a permission request. */
export function decisionText(request: Message, decision: 'grant' | 'deny', payload: Members): string {
  const { id, session_id, job_id } = request.ids;
  return envelopeText(`permission.${decision}`, payload, { session_id, job_id, correlation_id: id });
}

/** The messages of ARCP that answer others, each with the side that sends it. */
const ARCP_ANSWERS: Readonly<Record<string, readonly string[]>> = {
  'permission.request': ['permission.grant', 'permission.deny'],
  'tool.invoke': ['tool.result', 'tool.error'],
  'job.started': ['cancel'],
  'job.accepted': ['cancel'],
  'job.progress': ['cancel'],
  ping: ['pong'],
};

/** Returns the answers that the other side could send. */
export function answersTo(message: Message, content: Content): readonly Answer[] {
  const { record, ids, language } = message;
  const side = record.side === 'client' ? 'server' : 'client';
  const to = { session: record.session, side } as const;
  if (language === 'arcp')
    return (ARCP_ANSWERS[message.type] ?? []).map((type) => ({
      title: `Answer with ${type}`,
      draft: {
        ...to,
        form: 'arcp',
        type,
        ids: {
          session_id: ids['session_id'],
          job_id: ids['job_id'],
          // A job is cancelled by its id.
          correlation_id: type === 'cancel' ? undefined : ids['id'],
        },
      },
    }));
  if (content.language === 'jsonrpc') {
    const { method, id } = members(content.value);
    if (typeof method !== 'string' || id === undefined) return [];
    return [
      {
        title: 'Answer with a result',
        draft: { ...to, form: 'raw', text: JSON.stringify({ jsonrpc: '2.0', id, result: {} }) },
      },
    ];
  }
  if (content.language === 'accp' && content.frame !== undefined && /^(?:req|qry)$/.test(content.frame.intent))
    return [
      {
        title: 'Send a similar frame',
        draft: { ...to, side: record.side === 'server' ? 'server' : 'client', form: 'accp', frame: content.frame },
      },
    ];
  return [];
}
