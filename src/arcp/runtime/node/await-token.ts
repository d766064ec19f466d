import { afterUnref } from '../../../async/timers.js';
import type { Channel } from '../../../channels/channel.js';
import type { Admission } from '../../../channels/node/listen.js';

/** Milliseconds for the headers of a request, and for the token. */
export const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Ends a connection that does not send its token in time. @returns a function that checks a token */
export function awaitToken(channel: Channel, admission: Admission): (token: string) => boolean {
  const cancel = afterUnref(HANDSHAKE_TIMEOUT_MS, () => channel.destroy());
  return (token) => {
    const isValid = admission.isToken(token);
    if (isValid) cancel();
    return isValid;
  };
}
