/**
 * How far the other side is known to have got. A report of a gap that names a lower number, about a frame that was sent when this was known,
 * comes from a side that has forgotten the session: sent again, everything would be done again (draft-benzing-accp-00, section 3.7).
 */
import type { Message } from '../../message/message.js';
import { tryParseFrame } from '../../parse.js';
import { partsOfSession, type Session } from '../../session/session.js';
import { numberOf, textOf } from '../frames.js';
import { isGapReport } from '../gap-report.js';

export class PeerProgress {
  readonly #session: Session;
  /** The number that the other side has come to expect. */
  #expected = 0;
  /** The number of the first frame that was sent when this was known. */
  #since = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /** All that was sent so far has been processed. */
  processedAll(): void {
    this.#learn(this.#next);
  }

  /** Takes what a message tells by what it answers. */
  take({ agent, intent, operation, payload, envelope }: Message): void {
    if (intent === 'fail' && operation === 'error') {
      // Other errors may be about frames that have used up no number.
      if (payload['code'] === 'E3003' && typeof payload['expected'] === 'number') this.#learn(payload['expected']);
      return;
    }
    const sent = agent === this.#session.agent ? undefined : this.#sentAs(envelope.causation_id);
    if (sent !== undefined) this.#learn(sent + 1);
  }

  /** Whether a frame is such a report. */
  isForgottenIn(frame: string): boolean {
    if (!isGapReport(frame)) return false;
    const parsed = tryParseFrame(frame, { dialect: 'lenient' });
    if (!parsed.ok) return false;
    const expected = numberOf(parsed.value.payload, 'expected');
    const sent = this.#sentAs(textOf(parsed.value.metadata, 'aid'));
    return expected !== undefined && sent !== undefined && sent >= this.#since && expected < this.#expected;
  }

  #learn(expected: number): void {
    if (expected <= this.#expected || expected > this.#next) return;
    this.#expected = expected;
    this.#since = this.#next;
  }

  /** The number of one of our frames. */
  #sentAs(mid: string | undefined): number | undefined {
    const sent = mid === undefined ? undefined : partsOfSession(this.#session).delivery.sentAs(mid);
    return sent?.[0] === this.#session.agent ? sent[1] : undefined;
  }

  get #next(): number {
    return partsOfSession(this.#session).delivery.nextToSend(this.#session.agent);
  }
}
