/** What the ways to speak over a lasting connection have in common: answers come at any time, and so may its end. */

import type { Received } from '../commands/connect/received.js';
import type { Speaker, SpeakerOptions } from '../commands/connect/speaker.js';
import { count } from '../session/notes.js';
import type { Outstanding } from './outstanding.js';

/** A speaker that waits for outstanding answers before it ends, unless the connection ends first. */
export function speakerOver(
  connection: Pick<Speaker, 'say' | 'broken' | 'stop'>,
  outstanding: Outstanding,
  { timeout }: SpeakerOptions,
  received: Received,
): Speaker {
  const { broken, stop } = connection;
  // Only looked at while something is waited for.
  broken.catch(() => undefined);
  return {
    ...connection,
    end: async () => {
      const left = await Promise.race([outstanding.wait(timeout), broken]).finally(() => outstanding.stop());
      if (left > 0) await received.unanswered(`${count(left, 'request')} had no answer within ${timeout} s.`);
      await stop();
    },
  };
}
