/** What passes between a client and its agent, in a file of JSON lines. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { systemReason } from '../../../text/system-reason.js';
import { unwritable } from '../../io/errors.js';
import type { Side } from './relay.js';

export interface MessageLog {
  /** A message, as it stood in the text. */
  readonly message: (from: Side | 'pegwire', text: string) => void;
  /** What was no message. */
  readonly refused: (from: Side, why: string, text: string) => void;
  readonly close: () => void;
}

export const NO_LOG: MessageLog = { message: () => {}, refused: () => {}, close: () => {} };

/**
 * Adds to a log, which only its owner may read: messages hold what people say. Each line is written before the message goes on, so
 * that nothing is missing when a process dies.
 *
 * @param failed told once that it cannot be written any more
 * @throws UsageError when it cannot be opened
 */
export function openMessageLog(file: string, failed: (why: string) => void): MessageLog {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'a', 0o600);
  } catch (thrown) {
    throw unwritable(thrown, file);
  }
  const close = (): void => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  const write = (from: string, rest: string): void => {
    if (descriptor === undefined) return;
    try {
      writeSync(descriptor, `{"at":"${new Date().toISOString()}","from":"${from}",${rest}}\n`);
    } catch (thrown) {
      close();
      failed(systemReason(thrown));
    }
  };
  return {
    // The text is JSON already, with all of its digits.
    message: (from, text) => write(from, `"message":${text}`),
    refused: (from, why, text) => write(from, `"refused":${JSON.stringify(why)},"text":${JSON.stringify(text)}`),
    close,
  };
}
