/** Results of sessions: messages, replies, losses and checkpoints. */
import type { DecodeOutcome } from '../../accp/codec/contract.js';
import { AccpError } from '../../accp/errors.js';
import type { Loss, Message } from '../../accp/message/message.js';
import type { Session } from '../../accp/session/session.js';
import type { CheckpointResult } from '../../accp/state/state.js';
import type { Diagnostic } from '../../text/diagnostic.js';
import type { Line } from '../io/input.js';
import { noteLine, type Reporting } from '../io/report.js';

/** Returns the frames to send in reply. */
export function repliesOf(outcome: DecodeOutcome): readonly string[] {
  if (outcome.outcome === 'dropped') return [];
  if (outcome.outcome === 'rejected') return outcome.reply === null ? [] : [outcome.reply];
  return outcome.replies;
}

/** Returns the message of a decoded frame, if it has one. */
export function messageOf(outcome: DecodeOutcome): Message | null {
  return outcome.outcome === 'message' || outcome.outcome === 'pending' ? (outcome.message ?? null) : null;
}

/** Reads the streams of a session, so that their chunks do not fill its buffers. */
export class StreamReaders {
  readonly #session: Session;
  readonly #reading = new Set<string>();
  readonly #failed: { cid: string; error: AccpError }[] = [];

  constructor(session: Session) {
    this.#session = session;
    for (const cid of session.pendingStreams) this.read(cid);
  }

  read(cid: string): void {
    if (this.#reading.has(cid)) return;
    this.#reading.add(cid);
    void this.#drain(cid);
  }

  /** Returns the errors of failed streams, and the correlation identifiers of streams that have not ended. */
  async end() {
    // Pending reads finish within one turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    return { failed: [...this.#failed], unfinished: [...this.#reading] };
  }

  async #drain(cid: string): Promise<void> {
    try {
      for await (const _ of this.#session.stream(cid));
    } catch (thrown) {
      if (!(thrown instanceof AccpError)) throw thrown;
      this.#failed.push({ cid, error: thrown });
    }
    this.#reading.delete(cid);
  }
}

const LOSSES: Readonly<Record<Loss['kind'], string>> = {
  rounded: 'was rounded to 6 decimal places',
  'negative-zero': 'lost its sign',
  narrowed: 'became a plain number',
  precision: 'lost digits',
  renamed: 'will be read under its full name',
};

export interface Noteworthy {
  readonly losses: readonly Loss[];
  readonly warnings: readonly Diagnostic[];
  readonly checkpoint?: CheckpointResult | Promise<CheckpointResult> | undefined;
}

/** Warnings about the limits of section 3.4. Most frames with an envelope exceed them, so they are counted and not shown. */
const LIMIT_WARNING = /^over-(?:soft|hard)-limit$/;

/** Reports whether a part of the message exceeds a hard limit. */
export function isOverHardLimit({ warnings }: Pick<Noteworthy, 'warnings'>): boolean {
  return warnings.some(({ code }) => code === 'over-hard-limit');
}

/** Describes a loss. */
export function lossText({ path, kind, from, to }: Loss): string {
  return `${path} ${LOSSES[kind]}: ${from} -> ${to}`;
}

/** Writes the losses, warnings and checkpoint of a line to stderr. */
export async function noteResults(invocation: Reporting, line: Line, results: Noteworthy): Promise<void> {
  const { losses, warnings, checkpoint } = results;
  for (const loss of losses) await noteLine(invocation, line, `warning[${loss.kind}]: ${lossText(loss)}`);
  for (const { code, message } of warnings) {
    if (!LIMIT_WARNING.test(code)) await noteLine(invocation, line, `warning[${code}]: ${message}`);
  }
  if (checkpoint !== undefined) await noteLine(invocation, line, checkpointText(await checkpoint));
}

function checkpointText({ id, trigger, tokensBefore, tokensAfter, exact, summary }: CheckpointResult): string {
  const about = exact ? '' : 'about ';
  return `checkpoint ${id} (${trigger}): ${about}${tokensBefore} -> ${tokensAfter} tokens: ${summary}`;
}
