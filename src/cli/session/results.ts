/** Results of sessions: what decoded frames hold and require, and notes for people. */
import type { DecodeOutcome } from '../../accp/codec/contract.js';
import { AccpError } from '../../accp/errors.js';
import type { Loss, Message } from '../../accp/message/message.js';
import type { Session } from '../../accp/session/session.js';
import type { CheckpointResult } from '../../accp/state/state.js';
import type { Diagnostic } from '../../text/diagnostic.js';
import type { Line } from '../io/input.js';
import { noteLine, type Reporting } from '../io/report.js';

/** Returns the frames to send back. */
export function repliesOf(outcome: DecodeOutcome): readonly string[] {
  if (outcome.outcome === 'dropped') return [];
  if (outcome.outcome === 'rejected') return outcome.reply === null ? [] : [outcome.reply];
  return outcome.replies;
}

export function messageOf(outcome: DecodeOutcome): Message | null {
  return outcome.outcome === 'message' || outcome.outcome === 'pending' ? (outcome.message ?? null) : null;
}

/** Reads the streams of a session, so that chunks do not fill its buffers. */
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

  /** Returns errors, and the correlation identifiers of streams that have not ended. */
  async end() {
    // Lets pending reads finish: they wait for nothing else.
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
  rounded: 'was rounded to six places',
  'negative-zero': 'has lost its sign',
  narrowed: 'has become a plain number',
  precision: 'has more digits than are kept',
  renamed: 'comes back under its full name',
};

export interface Noteworthy {
  readonly losses: readonly Loss[];
  readonly warnings: readonly Diagnostic[];
  readonly checkpoint?: CheckpointResult | Promise<CheckpointResult> | undefined;
}

/** Limits of section 3.4, which most frames with envelopes exceed: counted, not shown. */
const LIMIT_WARNING = /^over-(?:soft|hard)-limit$/;

export function isOverHardLimit({ warnings }: Pick<Noteworthy, 'warnings'>): boolean {
  return warnings.some(({ code }) => code === 'over-hard-limit');
}

export function lossText({ path, kind, from, to }: Loss): string {
  return `${path} ${LOSSES[kind]}: ${from} is now ${to}`;
}

export async function noteResults(invocation: Reporting, line: Line, results: Noteworthy): Promise<void> {
  const { losses, warnings, checkpoint } = results;
  for (const loss of losses) await noteLine(invocation, line, lossText(loss));
  for (const { code, message } of warnings) {
    if (!LIMIT_WARNING.test(code)) await noteLine(invocation, line, `warning[${code}]: ${message}`);
  }
  if (checkpoint !== undefined) await noteLine(invocation, line, checkpointText(await checkpoint));
}

function checkpointText({ id, trigger, tokensBefore, tokensAfter, exact, summary }: CheckpointResult): string {
  const about = exact ? '' : 'about ';
  return `checkpoint ${id} (${trigger}): ${about}${tokensBefore} tokens became ${tokensAfter}: ${summary}`;
}
