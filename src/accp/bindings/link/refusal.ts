/** Error frames that belong to no session: a binding refuses what it cannot give to one (draft-benzing-accp-00, sections 3.6 and 11). */
import type { AccpError } from '../../errors.js';
import { tryParseFrame } from '../../parse.js';
import { partsOfSession, type Session } from '../../session/session.js';
import { hasErrorSchema, readHead, textOf } from '../frames.js';
import { errorOf } from './answers.js';

export interface Refusal {
  /** The chain of what was refused, where it is known. */
  readonly cid: string | undefined;
  readonly error: AccpError;
}

/**
 * What such a frame says; `null` for any other frame. Its number is none of the session's: each of them has number 1.
 *
 * @param peer who answers in the session
 */
export function refusalOutside(frame: string, session: Session, peer: string | undefined): Refusal | null {
  if (!hasErrorSchema(frame)) return null;
  const head = readHead(frame);
  if (head === null || head.sid !== undefined || head.seq !== 1 || head.agent === peer) return null;
  if (session.peers.has(head.agent) || partsOfSession(session).delivery.expected(head.agent) > 1) return null;
  const parsed = tryParseFrame(frame, { dialect: 'lenient' });
  const payload = parsed.ok ? parsed.value.payload : null;
  return { cid: head.cid, error: errorOf(head.agent, textOf(payload, 'code'), textOf(payload, 'msg')) };
}
