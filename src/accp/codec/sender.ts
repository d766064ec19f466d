/** Outgoing frames: numbers, copies in the outbox, and resends after a gap (draft-benzing-accp-00, sections 3.6 and 3.7). */

import type { Diagnostic } from '../../text/diagnostic.js';
import { PrintError } from '../../text/errors.js';
import type { Param } from '../ast.js';
import { type AccpError, accpError } from '../errors.js';

import { explainFrame } from '../explain.js';
import { keyTable } from '../message/abbreviations.js';
import { inSeconds } from '../message/message.js';
import { isMarked, isPlainText, transliterate } from '../message/transliterate.js';
import { createWriting, writeParam } from '../message/write-value.js';
import { tryParseFrame } from '../parse.js';
import { printFrame } from '../print.js';
import { errorPayloadOf } from '../profiles/error.js';
import type { Registry } from '../registry/registry.js';
import { ALLOWED_AFTER_CANCEL } from '../session/chains.js';
import type { CompactBody, Shortening } from '../session/compaction.js';
import type { SentAs } from '../session/delivery.js';
import { type MetadataAround, metadataAround } from '../session/envelope.js';
import { isAnnouncement, type OutboxEntry, type SentFrame } from '../session/outbox.js';
import type { SessionParts } from '../session/session.js';
import type { EncodeResult, Settings } from './contract.js';
import type { FrameTokenCounter } from './frame-tokens.js';

/** A frame whose identifiers are valid, and which lacks a number only. */
export interface Prepared {
  readonly copy: OutboxEntry;
  /** Header and body as sent. */
  readonly body: string;
  readonly mid: string;
  readonly metadata: MetadataAround;
  /** `true` if it is the frame that has the `sid` of the session, of which there is one. */
  readonly hasSessionId: boolean;
}

export interface Sent {
  readonly text: string;
  /** The length of header and body. */
  readonly length: number;
  /** Header and body in plain form. */
  readonly plain: string;
  readonly mid: string;
  readonly seq: number;
}

interface Gap {
  readonly expected: number;
  /** The identifier of the rejected frame. */
  readonly rejected?: string | undefined;
  readonly reporter?: string | undefined;
  /** The sender of the frames. @default that of the rejected frame, otherwise the agent of the session */
  readonly agent?: string | undefined;
}

/** Error frames always name the frame that they reject. */
const IS_ERROR = /^@[^>]*>fail:error\{/;

/** The fact of the last short correlation identifier. */
const LAST_CID = 'last-cid';

/** The fact that the `sid` of the session was sent. */
export const SENT_SESSION_ID = 'sent-session-id';

export interface CodecSession extends Omit<SessionParts, 'commit' | 'isBusy'> {
  readonly settings: Settings;
  readonly sender: Sender;
  readonly frameTokens: FrameTokenCounter;
  readonly ownRegistry: () => Registry;
  /** Returns the registry with a hash; `null` if it is unknown. */
  readonly registryOf: (hash: string) => Registry | null;
}

export class Sender {
  readonly #parts: SessionParts;
  readonly #settings: Settings;
  readonly #ownRegistry: () => Registry;

  constructor(parts: SessionParts, settings: Settings, ownRegistry: () => Registry) {
    this.#parts = parts;
    this.#settings = settings;
    this.#ownRegistry = ownRegistry;
  }

  /**
   * Prepares a new frame, which must be sent next. Throws AccpError E1004 for an invalid identifier; only the tables are changed.
   *
   * @param compact the result of {@link shorten}
   */
  prepare(frame: SentFrame, mid = this.freshId(), compact?: CompactBody): Prepared {
    return this.#prepareCopy({ frame, mid, seqs: [], times: 0 }, mid, compact);
  }

  /** Returns the body of the next frame of an agent as it is sent, and updates the tables. */
  shorten(agent: string, plain: string, shortening: Shortening = {}): CompactBody {
    const { compaction, registries } = this.#parts;
    const mayBeCounted = this.#settings.compact || registries.readsCompact;
    const { tree, isPart } = shortening;
    return compaction.shorten(agent, plain, this.#compactRegistry(agent), { tree, isPart, mayBeCounted });
  }

  /**
   * Returns a short correlation identifier for a request: an odd number if the name of this agent sorts before that of the only other one,
   * else an even one. Returns `undefined` if frames are not compact or there are several other agents.
   */
  shortCid(): string | undefined {
    const { registries, chains, delivery, facts, options } = this.#parts;
    const [peer, ...others] = registries.peers.keys();
    if (this.#compactRegistry() === null || others.length > 0) return undefined;
    const last = facts.get(LAST_CID);
    let cid = typeof last === 'number' ? last + 2 : options.agent < peer! ? 1 : 2;
    while (chains.get(String(cid)) !== undefined || delivery.hasSeen(String(cid))) cid += 2;
    return String(cid);
  }

  tookCid(cid: string): void {
    this.#parts.facts.set(LAST_CID, Number(cid));
  }

  #compactRegistry(agent?: string): Registry | null {
    if (!this.#settings.compact) return null;
    const { options, registries } = this.#parts;
    const isAnnouncing = options.sequence === 'session' || agent === options.agent;
    return registries.compactRegistry(this.#ownRegistry(), isAnnouncing);
  }

  /** Assigns a number. If `keep` is true, the frame is stored for a resend. */
  send({ copy, body, mid, metadata, hasSessionId }: Prepared, keep: boolean): Sent {
    const { delivery, outbox, facts } = this.#parts;
    const { agent, body: plain } = copy.frame;
    if (hasSessionId) facts.set(SENT_SESSION_ID, true);
    const seq = delivery.sent(agent, mid);
    const text = body + metadata.before + seq + metadata.after;
    if (keep) outbox.add(copy, seq);
    return { text, length: body.length, plain, mid, seq };
  }

  /** @param taken identifiers that will be used, too */
  freshId(taken: readonly string[] = []): string {
    for (let attempt = 0; attempt < 8; attempt++) {
      const id = this.#settings.createId();
      if (!this.#parts.delivery.hasSeen(id) && !taken.includes(id)) return id;
    }
    throw accpError('E9999', undefined, 'The option createId returns identifiers that are in use.');
  }

  /** Writes a frame to the debug log, with plain English if the option `explain` is set (section 9, item 1). */
  logFrame(type: 'sent' | 'received', { text, plain, seq }: Pick<Sent, 'text' | 'plain' | 'seq'>): void {
    const { runtime } = this.#parts;
    if (runtime.log === undefined) return;
    const { explain, dialect } = this.#settings;
    const parsed = explain ? tryParseFrame(text.startsWith(plain) ? text : plain, { dialect }) : undefined;
    const message = parsed?.ok ? explainFrame(parsed.value) : `Frame ${seq} was ${type}.`;
    runtime.emit(type, message, { frame: text, details: { sequence: seq } });
  }

  sendError(error: AccpError, cause: { readonly cid?: string | undefined; readonly mid?: string | undefined }): string {
    const { options, runtime, registries } = this.#parts;
    const { text } = registries.writing(this.#settings.text);
    const prepared = this.prepare({
      agent: options.agent,
      body: errorBody(options.agent, error, text === 'transliterate'),
      ts: inSeconds(runtime.now()),
      cid: cause.cid,
      aid: cause.mid,
    });
    // Each rejected frame repeats the report of a gap. The sender of an unreadable frame is unknown.
    const sent = this.send(prepared, error.code !== 'E3003' && cause.mid !== undefined);
    this.logFrame('sent', sent);
    return sent.text;
  }

  /**
   * Announces a resend by `sync:resync{from:n}`, then sends unprocessed messages with new identifiers and numbers. A peer that asks
   * often and processes little gets only the first of them, and a frame that makes it ask for the rest.
   */
  recover({ expected, rejected, reporter, agent: named }: Gap): Pick<EncodeResult, 'frames' | 'warnings'> {
    const { delivery, outbox, options, runtime, compaction, registries } = this.#parts;
    const known = rejected === undefined ? undefined : delivery.sentAs(rejected);
    if (known !== undefined) {
      const [sender, seq] = known;
      const yields = this.#mustYield(known, reporter, expected);
      if (seq < expected && !yields) outbox.rejected(sender, seq);
      // Every frame after a gap is reported. Answering each report would invalidate the first answer.
      if (outbox.isSuperseded(sender, seq)) return { frames: [], warnings: [] };
      if (yields) return { frames: [], warnings: this.#giveUp(sender, seq) };
    }
    const agent = named ?? known?.[0] ?? options.agent;
    delivery.skipTo(agent, expected);
    // Of a cancelled chain, only its end is sent again.
    const { waiting, copies, lost } = outbox.takeUnprocessed(agent, expected, (frame) => this.#isWanted(frame));
    const left = waiting.length - copies.length;
    const unread = waiting.filter(({ frame }) => isAnnouncement(frame)).length;
    if (unread > 0 || agent === options.agent || options.sequence === 'session') registries.unread = unread;
    // The other side has not read the frames in between, from which both sides would have learned.
    compaction.reset(agent);
    const announced = this.#resync(agent, expected);
    outbox.resynced({ agent, from: expected, seq: announced.seq });
    const sent = [announced, ...copies.map((copy) => this.#sendAgain(copy))];
    // This number is too high, so the peer rejects it and asks for the rest.
    if (left > 0) sent.push(this.#resync(agent, delivery.nextToSend(agent) + 1));
    runtime.emit('resync', `${copies.length} frames are sent again, beginning with number ${expected}.`, {
      details: { expected, count: copies.length, left, lost },
    });
    for (const frame of sent) this.logFrame('sent', frame);
    return { frames: sent.map(({ text }) => text), warnings: lost === 0 ? [] : [lostWarning(lost, expected)] };
  }

  /** Handles an error of the other side that names a frame: an announcement that it refuses is not known there. */
  refused(mid: string): void {
    const { delivery, outbox, registries } = this.#parts;
    const sent = delivery.sentAs(mid);
    const frame = sent && outbox.frameOf(...sent);
    if (frame !== undefined && isAnnouncement(frame)) registries.forget();
  }

  #resync(agent: string, from: number): Sent {
    const body = bodyText(agent, 'sync', 'resync', [{ key: 'from', value: { kind: 'integer', value: from } }]);
    return this.send(this.prepare({ agent, body, ts: inSeconds(this.#parts.runtime.now()) }), false);
  }

  /** Sends a frame again under a new number and identifier (section 3.7, item 3); answers name its first identifier. */
  #sendAgain(copy: OutboxEntry): Sent {
    const { frame, mid } = copy;
    const again = frame.cid === undefined ? { ...copy, frame: { ...frame, cid: mid } } : copy;
    const sent = this.send(this.#prepareCopy(again, this.freshId()), true);
    if (isAnnouncement(frame)) this.#parts.registries.unread--;
    return sent;
  }

  #prepareCopy(copy: OutboxEntry, mid: string, compact?: CompactBody): Prepared {
    const { options, facts, chains } = this.#parts;
    const { agent, body: plain, ts, cid, aid: cause, ttl, part, sid: own, isTransliterated } = copy.frame;
    const isCompact = this.#compactRegistry() !== null;
    // The chain names the request that a message answers.
    const isImplied =
      cid !== undefined && (cause === cid || cause === chains.get(cid)?.request?.message.envelope.msg_id);
    const aid = isImplied && isCompact && !IS_ERROR.test(plain) ? undefined : cause;
    const { sessionId = isCompact ? 'first' : 'always', compact: mayBeCompact } = this.#settings;
    const isKnown = facts.get(SENT_SESSION_ID) === true;
    const isOmitted = own === null || (own === undefined && sessionId === 'first' && isKnown);
    const sid = isOmitted ? undefined : (own ?? options.id);
    const hasSessionId = sid !== undefined && !isKnown && (sessionId === 'first' || mayBeCompact);
    const { body, table } = compact ?? this.shorten(agent, plain, { isPart: part !== undefined });
    return {
      copy,
      body,
      mid,
      metadata: metadataAround({ mid, ts, cid, aid, sid, ttl, part, table, isTransliterated }),
      hasSessionId,
    };
  }

  #isWanted({ cid, body }: SentFrame): boolean {
    if (cid === undefined || !this.#parts.chains.isCancelled(cid)) return true;
    return ALLOWED_AFTER_CANCEL.has(body.slice(body.indexOf('>') + 1, body.indexOf(':')));
  }

  /**
   * Returns `true` if this side must not send again after a collision: both sides, which share one count, sent a frame with the same
   * number. Only the side whose name sorts first sends again, and only its last frame, since later ones may have been processed.
   */
  #mustYield([agent, seq]: SentAs, reporter: string | undefined, expected: number): boolean {
    const { options, outbox } = this.#parts;
    if (options.sequence !== 'session' || seq >= expected || reporter === undefined) return false;
    return reporter < options.agent || !outbox.isLast(agent, seq);
  }

  /**
   * Gives up a frame after a collision. A registry is announced again when the peer announces its own; other frames are not sent
   * again.
   */
  #giveUp(sender: string, seq: number): readonly Diagnostic[] {
    const { outbox, registries, compaction } = this.#parts;
    compaction.reset(sender);
    const frame = outbox.giveUp(sender, seq);
    if (frame === null) return [];
    if (!isAnnouncement(frame)) return [collisionWarning(seq)];
    registries.forget();
    return [];
  }
}

/** Returns header and body in canonical form. Throws AccpError E1004 with the path of a value that cannot be written. */
export function bodyText(agent: string, intent: string, operation: string, payload: readonly Param[]): string {
  try {
    return printFrame({ kind: 'frame', agent, intent, operation, payload, metadata: null });
  } catch (thrown) {
    if (!(thrown instanceof PrintError)) throw thrown;
    const message = thrown.message.slice(thrown.path.length + 2);
    throw accpError('E1004', thrown.path, message);
  }
}

/** The maximum length of the reason in an error frame, in characters (section 3.4). */
const MAX_REASON = 120;

/** Returns the body of an error frame, for any error. If `transliterates` is false, reasons are reduced to plain words. */
export function errorBody(agent: string, error: AccpError, transliterates: boolean): string {
  const table = keyTable('ER');
  const { code, message, retryable, ...details } = errorPayloadOf(error);
  const params: Param[] = [];
  for (const [key, value] of Object.entries({ code, message, retryable, ...details })) {
    const written = typeof value === 'string' ? reasonText(value.slice(0, MAX_REASON), transliterates) : value!;
    params.push(writeParam(table.abbreviate(key), written, createWriting({ text: 'reject' })));
  }
  params.push({ key: 'schema', value: { kind: 'string', value: 'ER' } });
  return bodyText(agent, 'fail', 'error', params);
}

function reasonText(text: string, transliterates: boolean): string {
  if (transliterates) return transliterate(text);
  return isPlainText(text) && !isMarked(text) ? text : slug(text);
}

/** The draft writes reasons like this: `connection_timed_out`. */
function slug(text: string): string {
  const words = text.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_+|_+$/g, '');
  return /[A-Za-z]/.test(words) && !/^(?:true|false)$/.test(words) ? words : `error_${words}`;
}

function collisionWarning(seq: number): Diagnostic {
  return lost(
    `1 frame, number ${seq}, was sent at the same time as a frame of the other side, and is not sent again.`,
    "send the message again, or open the session with sequence: 'sender'",
  );
}

function lostWarning(count: number, expected: number): Diagnostic {
  return lost(
    `${count} frames with the number ${expected} or a higher one are no longer stored, and cannot be sent again.`,
    'raise maxOutbox, or send the full state by sync:state',
  );
}

function lost(message: string, help: string): Diagnostic {
  return { code: 'lost', severity: 'error', message, span: null, section: '3.7', help };
}
