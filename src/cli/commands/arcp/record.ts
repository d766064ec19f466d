/** Conversations as logs, without what is secret. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { Dial } from '../../../arcp/client/index.js';
import { systemReason } from '../../../text/system-reason.js';
import { unwritable } from '../../io/errors.js';
import { toJson } from '../../io/json.js';

/** What stands in the place of a secret. */
const SECRET = 'secret';

export interface Recording {
  readonly dial: Dial;
  /** Whether all messages are in the file so far. */
  readonly isWhole: () => boolean;
  readonly close: () => void;
}

/**
 * Writes what both sides say on the connections of a dial function, one message in each line. When a line cannot be written, the
 * conversation goes on without its log.
 *
 * @param failed called once, with the reason
 * @throws UsageError when the file cannot be opened
 */
export function recorded(dial: Dial, file: string, failed: (why: string) => void): Recording {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'w', 0o600);
  } catch (thrown) {
    throw unwritable(thrown, file);
  }
  let isOpen = true;
  let isWhole = true;
  const write = (text: string): void => {
    if (!isOpen || !isWhole) return;
    try {
      writeSync(descriptor, `${withoutSecrets(text)}\n`);
    } catch (thrown) {
      isWhole = false;
      failed(systemReason(thrown));
    }
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
    isWhole: () => isWhole,
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
