/** After a gap: what was lost goes out again (draft-benzing-accp-00, section 3.7; the frame is `sync:resync{from:n}`). */
import type { Diagnostic } from '../../text/diagnostic.js';
import type { SentAs } from '../session/delivery.js';
import type { SentFrame } from '../session/outbox.js';
import type { SessionParts } from '../session/session.js';
import { ENDS_A_CHAIN } from './check-message.js';
import { ANNOUNCED, bodyText, type Engine, noteFrame, type Sent, send, sendAgain } from './engine.js';

/** What the other side has told. */
interface Gap {
  /** The number that it waits for. */
  readonly expected: number;
  /** The identifier of the frame that it has refused; its error frame's `aid`. */
  readonly refused: string | undefined;
  /** Who has told. */
  readonly reporter?: string | undefined;
  /** Whose frames it is about. @default as whom the refused frame was sent, or else the session's agent */
  readonly agent?: string | undefined;
}

interface Recovery {
  readonly frames: readonly string[];
  /** `lost`: messages that the outbox no longer had. */
  readonly warnings: readonly Diagnostic[];
}

/**
 * Announces what is sent again, and sends it: all messages that the other side has not processed, under their correlation
 * identifiers, with new identifiers and numbers. Their time stamps stay: what has expired meanwhile is not wanted any more.
 *
 * Where the other side asks again and again, and processes little, it gets the first of them, and is made to ask for the rest.
 */
export function recover(
  { expected, refused, reporter, agent: named }: Gap,
  parts: SessionParts,
  engine: Engine,
): Recovery {
  const { delivery, outbox, note, options, runtime } = parts;
  const known = refused === undefined ? undefined : delivery.sentAs(refused);
  if (known !== undefined) {
    const [sender, seq] = known;
    const yields = mustYield(known, reporter, expected, parts);
    if (seq < expected && !yields) outbox.refused(sender, seq);
    // One gap is reported with every frame behind it. Answering each report would refuse what the first answer has brought.
    if (outbox.isSuperseded(sender, seq)) return { frames: [], warnings: [] };
    if (yields) {
      return { frames: [], warnings: giveUp(sender, seq, parts) };
    }
  }
  const agent = named ?? known?.[0] ?? options.agent;
  delivery.raise(agent, expected);
  // What was given up must not be done after all: of a cancelled chain, only its end is sent again.
  const { copies, left, lost } = outbox.takeUnprocessed(agent, expected, options.sequence === 'session', (frame) =>
    isWanted(frame, parts),
  );
  const resync = (from: number): Sent =>
    send(engine, parts, {
      agent,
      body: bodyText(agent, 'sync', 'resync', [{ key: 'from', value: { kind: 'integer', value: from } }]),
      ts: runtime.now(),
      keep: false,
    });
  const announced = resync(expected);
  outbox.resynced({ agent, from: expected, seq: announced.seq });
  const sent = [announced, ...copies.map((copy) => sendAgain(engine, parts, copy))];
  // Nobody waits for a number that is not yet taken: this one is refused, and the refusal asks for the rest.
  if (left > 0) sent.push(resync(delivery.nextToSend(agent) + 1));
  note('resync', `${copies.length} frames are sent again, from number ${expected} on.`, {
    details: { expected, count: copies.length, left, lost },
  });
  if (runtime.log !== undefined) for (const frame of sent) noteFrame('sent', frame, parts, engine);
  return { frames: sent.map(({ text }) => text), warnings: lost === 0 ? [] : [lostWarning(lost, expected)] };
}

function isWanted({ cid, body }: SentFrame, { chains }: SessionParts): boolean {
  if (cid === undefined || !chains.isCancelled(cid)) return true;
  return ENDS_A_CHAIN.has(body.slice(body.indexOf('>') + 1, body.indexOf(':')));
}

/**
 * Whether a frame is given up because both sides have spoken at once where they share one count, so that their frames had the
 * same number. If both sent theirs again, those would meet in the same way: only the one whose name comes first does, and only
 * what it has sent last, since what was sent after may have been processed.
 */
function mustYield(
  [agent, seq]: SentAs,
  reporter: string | undefined,
  expected: number,
  { options, outbox }: SessionParts,
): boolean {
  if (options.sequence !== 'session' || seq >= expected || reporter === undefined) return false;
  return reporter < agent || !outbox.isLast(agent, seq);
}

/** Registries are announced anew when the other side announces its own; nothing else that was given up is sent again. */
function giveUp(sender: string, seq: number, { outbox, facts }: SessionParts): readonly Diagnostic[] {
  const given = outbox.giveUp(sender, seq);
  if (given === null) return [];
  if (!given.body.startsWith(`@${given.agent}>sync:registry{`)) return [collisionWarning(seq)];
  facts.delete(ANNOUNCED);
  return [];
}

function collisionWarning(seq: number): Diagnostic {
  return {
    code: 'lost',
    severity: 'error',
    message: `1 frame, number ${seq}, was sent while the other side was speaking, and is not sent again.`,
    span: null,
    section: '3.7',
    help: "send the message again, or open the session with sequence: 'sender'",
  };
}

function lostWarning(lost: number, expected: number): Diagnostic {
  return {
    code: 'lost',
    severity: 'error',
    message: `${lost} frames from number ${expected} on are no longer kept, and cannot be sent again.`,
    span: null,
    section: '3.7',
    help: 'raise maxOutbox, or send the whole state by sync:state',
  };
}
