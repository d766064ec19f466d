/** Requests that a session was at work on when its process ended. */
import { AccpError } from '../errors.js';
import type { Message } from '../message/message.js';
import { partsOfSession, type Session } from '../session/session.js';
import type { EndpointOptions } from './endpoint-options.js';

/**
 * Refuses them, or has them run again, as soon as the other side speaks in the session again.
 *
 * @param replies what its frame is answered besides
 * @param again filled with what is to be run
 * @returns the replies, and the frames that refuse the rest
 */
export function takeUpInterrupted(
  interrupted: readonly Message[],
  replies: readonly string[],
  session: Session,
  { codec, runAgain }: Pick<EndpointOptions, 'codec' | 'runAgain'>,
  again: Message[],
): readonly string[] {
  if (interrupted.length === 0) return replies;
  const refused: string[] = [];
  const { sentStreams } = partsOfSession(session);
  for (const message of interrupted) {
    const { msg_id: mid, correlation_id: cid = mid } = message.envelope;
    // Chunks are numbered once (section 10.4): those of another run would not fit to those that were sent.
    const isRunnable = !sentStreams.isUnderWay(cid);
    if (isRunnable && runAgain?.(message, session) === true) again.push(message);
    else refused.push(codec.fail(message, interruption(), session));
  }
  // The other side waits for a first frame, and a request that runs again may take long.
  const isSilent = replies.length + refused.length === 0;
  return isSilent ? codec.announce(session).frames : [...replies, ...refused];
}

/** Not an error that is retryable: the request may have run. */
export function interruption(): AccpError {
  return new AccpError({
    code: 'E5001',
    message: 'The request was interrupted. It may have run, and is not run again.',
    details: { reason: 'interrupted' },
  });
}
