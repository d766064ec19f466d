/** Answers that are much longer than what asks for them: the whole state, and the schemas of a registry. */
import type { Diagnostic } from '../../text/diagnostic.js';
import type { SessionParts } from '../session/session.js';

/** Characters that are given in answer in one session, beyond what was earned. */
const MOST = 1_048_576;
/** Characters that each character of a frame that asks earns. */
const EARNED = 8;
/** Under this name a session keeps the characters that were given and not earned. */
const GIVEN = 'given-in-answer';

/**
 * Gives an answer, unless the peers were given too much already: they are known to have it, since frames that get lost are sent again
 * (section 3.7), and may ask again.
 *
 * @param asked characters of what asks for it
 * @returns `null` where it is not given
 */
export function answerAtLength(
  asked: number,
  { facts, note }: SessionParts,
  answer: () => readonly string[],
): readonly string[] | null {
  const before = facts.get(GIVEN);
  const given = Math.max(0, (typeof before === 'number' ? before : 0) - EARNED * asked);
  if (given > MOST) {
    facts.set(GIVEN, given);
    note('unanswered', unanswered.message);
    return null;
  }
  const frames = answer();
  facts.set(
    GIVEN,
    frames.reduce((sum, { length }) => sum + length, given),
  );
  return frames;
}

/** What this side changes, the other side may ask for anew. */
export function changedHere({ facts }: SessionParts): void {
  facts.delete(GIVEN);
}

/** What the host is told where no answer was given. */
export const unanswered: Diagnostic = Object.freeze({
  code: 'unanswered',
  severity: 'warning',
  message: 'The other side asks for the state or the registry again and again, and is not given it now.',
  span: null,
  section: '5.4',
  help: 'the next change of the state here answers it again',
});
