/** Frames that have to be sent back: into a file, or told on stderr. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { DecodeOutcome } from '../accp/codec/outcome.js';
import type { Line } from './input.js';
import { noteLine } from './session-notes.js';
import { type Invocation, UsageError } from './usage.js';

/** The frames that a decoded frame asks to be sent back, in order. */
export function repliesOf(outcome: DecodeOutcome): readonly string[] {
  if (outcome.outcome === 'dropped') return [];
  if (outcome.outcome === 'rejected') return outcome.reply === null ? [] : [outcome.reply];
  return outcome.replies;
}

export interface Replies {
  readonly add: (line: Line, frame: string) => Promise<void>;
  readonly close: () => void;
}

/** @throws UsageError when the file cannot be written */
export function openReplies(invocation: Invocation): Replies {
  const file = invocation.options['replies'];
  if (typeof file !== 'string') {
    return { add: (line, frame) => noteLine(invocation, line, `to be sent back: ${frame}`), close: () => {} };
  }
  const descriptor = attempt(file, () => openSync(file, 'w'));
  return {
    add: async (_line, frame) => {
      attempt(file, () => writeSync(descriptor, `${frame}\n`));
    },
    close: () => closeSync(descriptor),
  };
}

function attempt<T>(file: string, step: () => T): T {
  try {
    return step();
  } catch (thrown) {
    throw new UsageError(`Cannot write ${file}: ${(thrown as Error).message}`, 'unreadable');
  }
}
