/** Frames that have to be sent back: into a file, or told on stderr. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { DecodeOutcome } from '../accp/codec/outcome.js';
import { writing } from './io/files.js';
import type { Line } from './io/input.js';
import type { Invocation, UsageError } from './options/command.js';
import { noteLine } from './session/notes.js';

/** The frames that a decoded frame asks to be sent back, in order. */
export function repliesOf(outcome: DecodeOutcome): readonly string[] {
  if (outcome.outcome === 'dropped') return [];
  if (outcome.outcome === 'rejected') return outcome.reply === null ? [] : [outcome.reply];
  return outcome.replies;
}

export interface Replies {
  readonly add: (line: Line, frame: string) => Promise<void>;
  /** @throws UsageError when frames could not be written */
  readonly close: () => void;
}

/**
 * Opens the file of the replies. Those that cannot be written to it go to stderr: the session sends none of them again.
 *
 * @throws UsageError when the file cannot be opened
 */
export function openReplies(invocation: Invocation): Replies {
  const file = invocation.options['replies'];
  const show = (line: Line, frame: string): Promise<void> => noteLine(invocation, line, `to be sent back: ${frame}`);
  if (typeof file !== 'string') return { add: show, close: () => {} };
  const descriptor = writing(file, () => openSync(file, 'w'));
  let fault: UsageError | undefined;
  return {
    add: async (line, frame) => {
      try {
        writing(file, () => writeSync(descriptor, `${frame}\n`));
      } catch (thrown) {
        fault ??= thrown as UsageError;
        await show(line, frame);
      }
    },
    close: () => {
      closeSync(descriptor);
      if (fault !== undefined) throw fault;
    },
  };
}
