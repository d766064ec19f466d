/** After a gap: what was lost goes out again (draft-benzing-accp-00, section 3.7; the frame is `sync:resync{from:n}`). */
import type { Diagnostic } from '../../text/diagnostic.js';
import type { SessionParts } from '../session/session.js';
import { bodyText, type Engine, noteFrame, send, sendAgain } from './engine.js';

/** What the other side has told. */
export interface Gap {
  /** The number that it waits for. */
  readonly expected: number;
  /** The identifier of the frame that it has refused; its error frame's `aid`. */
  readonly refused: string | undefined;
  /** Who has told. */
  readonly reporter?: string | undefined;
  /** Whose frames it is about. @default as whom the refused frame was sent, or else the session's agent */
  readonly agent?: string | undefined;
}

export interface Recovery {
  readonly frames: readonly string[];
  /** `lost`: messages that the outbox no longer had. */
  readonly warnings: readonly Diagnostic[];
}

/**
 * Announces what is sent again, and sends it: all messages that the other side has not processed, under their correlation
 * identifiers, with new identifiers and numbers. Their time stamps stay: what has expired meanwhile is not wanted any more.
 */
export function recover({ expected, refused, reporter, agent: named }: Gap, parts: SessionParts, engine: Engine): Recovery {
  const { delivery, outbox, note, options, runtime } = parts;
  const known = refused === undefined ? undefined : outbox.find(refused);
  // One gap is reported with every frame behind it. Answering each report would refuse what the first answer has brought.
  if (known !== undefined && outbox.isSuperseded(known.agent, known.seq)) return { frames: [], warnings: [] };
  if (known !== undefined && mustYield(known, reporter, expected, parts)) {
    const lost = outbox.remove(refused!) ? 1 : 0;
    return { frames: [], warnings: lost === 0 ? [] : [collisionWarning(known.seq)] };
  }
  const agent = named ?? known?.agent ?? options.agent;
  delivery.raise(agent, expected);
  const { copies, lost } = outbox.takeUnprocessed({ agent, expected, refused });
  const announced = send(engine, parts, {
    agent,
    body: bodyText(agent, 'sync', 'resync', [{ key: 'from', value: { kind: 'integer', value: expected } }]),
    ts: runtime.now(),
    keep: false,
  });
  outbox.resynced({ agent, from: expected, seq: announced.seq, mid: announced.mid });
  const sent = [announced, ...copies.map((copy) => sendAgain(engine, parts, copy))];
  note('resync', `${copies.length} frames are sent again, from number ${expected} on.`, {
    details: { expected, count: copies.length, lost },
  });
  if (runtime.log !== undefined) for (const frame of sent) noteFrame('sent', frame, parts, engine);
  return { frames: sent.map(({ text }) => text), warnings: lost === 0 ? [] : [lostWarning(lost, expected)] };
}

/**
 * Whether both sides have spoken at once where they share one count, so that their frames had the same numbers. If both sent
 * theirs again, those would meet in the same way; the one whose name comes first does.
 */
function mustYield(
  { agent, seq }: { readonly agent: string; readonly seq: number },
  reporter: string | undefined,
  expected: number,
  { options }: SessionParts,
): boolean {
  return options.sequence === 'session' && seq < expected && reporter !== undefined && reporter < agent;
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
