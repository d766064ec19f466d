/** Conversations as logs, without what is secret. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { Dial } from '../../arcp/client/index.js';
import { toJson } from '../json.js';
import { UsageError } from '../usage.js';

/** What stands in the place of a secret. */
const SECRET = 'secret';

export interface Recording {
  readonly dial: Dial;
  readonly close: () => void;
}

/**
 * Writes what both sides say on the connections of a dial function, one message a line.
 *
 * @throws UsageError on a file that cannot be written
 */
export function recorded(dial: Dial, file: string): Recording {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'w', 0o600);
  } catch (thrown) {
    throw new UsageError(`${file}: ${(thrown as Error).message}`, 'unreadable');
  }
  let isOpen = true;
  const write = (text: string): void => {
    if (isOpen) writeSync(descriptor, `${withoutSecrets(text)}\n`);
  };
  return {
    dial: async () => {
      const channel = await dial();
      return {
        ...channel,
        send: (text) => {
          write(text);
          channel.send(text);
        },
        start: (receiver) =>
          channel.start({
            ...receiver,
            text: (text) => {
              write(text);
              receiver.text(text);
            },
          }),
      };
    },
    close: () => {
      isOpen = false;
      closeSync(descriptor);
    },
  };
}

/** The tokens of sessions, in whatever they stand; a text that is no JSON is none of ours. */
function withoutSecrets(text: string): string {
  if (!/"(?:token|resume_token)"/.test(text)) return text;
  try {
    const message = JSON.parse(text) as { readonly payload?: Readonly<Record<string, unknown>> };
    const { payload = {} } = message;
    const auth = payload['auth'] as Readonly<Record<string, unknown>> | undefined;
    return toJson({
      ...message,
      payload: {
        ...payload,
        ...('resume_token' in payload ? { resume_token: SECRET } : {}),
        ...(auth === undefined || !('token' in auth) ? {} : { auth: { ...auth, token: SECRET } }),
      },
    });
  } catch {
    return text;
  }
}
