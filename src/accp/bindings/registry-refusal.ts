/** Whether a side may begin to speak in a session, by the registry with which it does (draft-benzing-accp-00, sections 3.7 and 11). */
import { partsOfSession, type Session } from '../session/session.js';
import type { Arrivals } from './arrivals.js';
import type { FrameHead } from './frames.js';

/** Whether a registry was sent before others that have come: by a connection that was given up, or by a side that counts anew. */
export function isStale({ agent, seq }: Pick<FrameHead, 'agent' | 'seq'>, session: Session): boolean {
  return seq !== undefined && seq < partsOfSession(session).delivery.expected(agent);
}

/**
 * Why a registry that came by itself is refused; `null` where it is not, and for other frames. Without connections, nobody could tell the first
 * side that another one has taken its place, and both would be given numbers of one count.
 */
export function registryRefusal(
  head: Pick<FrameHead, 'agent' | 'intent' | 'operation' | 'seq' | 'mid'>,
  session: Session,
  arrivals: Arrivals,
): string | null {
  const { agent, intent, operation, mid, seq } = head;
  if (intent !== 'sync' || operation !== 'registry') return null;
  const { peers } = session;
  if (peers.size > 0 && !peers.has(agent)) return 'The session is that of another agent.';
  // One that comes twice or late is refused as any other frame.
  const isLate =
    (mid !== undefined && partsOfSession(session).delivery.hasSeen(mid)) || arrivals.wasSkipped(agent, seq ?? 0);
  return isStale(head, session) && !isLate ? 'The session has gone on since this registry.' : null;
}
