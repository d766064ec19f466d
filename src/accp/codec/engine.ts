/** What the pipelines share: the codec's settings and registry, and how a frame goes out. */
import { PrintError } from '../../text/errors.js';
import type { Param } from '../ast.js';
import { AccpError } from '../errors.js';
import { explainFrame } from '../explain.js';
import type { Json } from '../message/json.js';
import { tryParseFrame } from '../parse.js';
import { createRegistry, exportRegistry, matchesHash, type Registry, type RegistryJson } from '../registry/registry.js';
import { metadataText } from '../session/envelope.js';
import type { Copy, SentFrame } from '../session/outbox.js';
import type { SessionParts } from '../session/session.js';
import { writeFrame } from '../writer.js';
import type { Settings } from './contract.js';

/** A codec from within. */
export interface Engine {
  readonly settings: Settings;
  /** The schemas of this side. */
  registry: Registry;
  /** Registries that peers have sent, ready to be used. */
  readonly peerRegistries: WeakMap<RegistryJson, Registry>;
}

/** Under this name a session keeps the schemas of this side. */
const REGISTRY = 'registry';

/**
 * The schemas of this side: the codec's, or those that the session was begun with where a codec of another process, after a
 * restart, does not have them.
 */
export function ownRegistry({ registry }: Engine, { facts, own }: SessionParts): Registry {
  if (own.source === registry) return own.registry!;
  const stored = facts.get(REGISTRY) as unknown as RegistryJson | undefined;
  const kept = stored === undefined ? undefined : createRegistry(stored);
  const isOlder = kept !== undefined && kept.version > registry.version;
  own.source = registry;
  own.registry = isOlder ? kept : registry;
  // Nobody has to be told of what every registry has.
  if (!isOlder && registry.version > COMMON_REGISTRY.version && kept?.hash !== registry.hash) {
    facts.set(REGISTRY, exportRegistry(registry) as unknown as Json);
  }
  return own.registry;
}

/** Before a peer has told of its registry, it is taken to have what everybody has. */
const COMMON_REGISTRY = createRegistry();

/** The schemas that the frames of `agent` are written by: those it has sent, ours where it has told nothing. */
export function registryOf(engine: Engine, parts: SessionParts, agent: string): Registry {
  const peer = parts.peers.get(agent);
  const own = ownRegistry(engine, parts);
  if (peer === undefined) return own;
  if (peer.registry === undefined) return matchesHash(own, peer.announcement.hash) ? own : COMMON_REGISTRY;
  let registry = engine.peerRegistries.get(peer.registry);
  if (registry === undefined) {
    registry = createRegistry(peer.registry);
    engine.peerRegistries.set(peer.registry, registry);
  }
  return registry;
}

/**
 * Header and body of a frame in canonical form.
 *
 * @throws AccpError E1004 with the path of what cannot be written
 */
export function bodyText(agent: string, intent: string, operation: string, payload: readonly Param[]): string {
  try {
    return writeFrame({ kind: 'frame', agent, intent, operation, payload, metadata: null });
  } catch (thrown) {
    if (!(thrown instanceof PrintError)) throw thrown;
    const message = thrown.message.slice(thrown.path.length + 2);
    throw new AccpError({ code: 'E1004', path: thrown.path, message });
  }
}

/** What a frame is sent with, beside what delivery adds. */
interface Outgoing extends SentFrame {
  /** The identifier that the message came with. */
  readonly mid?: string | undefined;
  /** Whether it is sent again after a gap. */
  readonly keep: boolean;
}

export interface Sent {
  readonly text: string;
  readonly mid: string;
  readonly seq: number;
}

/** Gives a frame its number and identifier, and keeps it for the case that it gets lost. */
export function send(
  engine: Engine,
  parts: SessionParts,
  { mid = freshId(engine, parts), keep, ...frame }: Outgoing,
): Sent {
  return sendCopy(engine, parts, { frame, mid, seqs: [], times: 0 }, mid, keep);
}

/**
 * Sends a frame once more: the same under a new number and identifier (section 3.7, item 3). One without a correlation is
 * correlated by its first identifier from then on, so that its answers name what the sender knows it by.
 */
export function sendAgain(engine: Engine, parts: SessionParts, copy: Copy): Sent {
  const { frame, mid } = copy;
  const again = frame.cid === undefined ? { ...copy, frame: { ...frame, cid: mid } } : copy;
  return sendCopy(engine, parts, again, freshId(engine, parts), true);
}

function sendCopy(engine: Engine, parts: SessionParts, copy: Copy, mid: string, keep: boolean): Sent {
  const { frame } = copy;
  const { agent, body, ts, cid, aid, ttl } = frame;
  const sid = frame.sid === null ? undefined : (frame.sid ?? sessionIdFor(engine, parts));
  const metadata = (seq: number): string => metadataText({ mid, seq, ts, cid, aid, sid, ttl, part: frame.part });
  // Refused identifiers must not use up a number.
  metadata(parts.delivery.nextToSend(agent));
  const seq = parts.delivery.sent(agent, mid);
  const text = body + metadata(seq);
  if (keep) parts.outbox.add(copy, seq);
  return { text, mid, seq };
}

/** Identifiers are unique in a session, so one that was seen is not taken. */
export function freshId({ settings }: Engine, { delivery }: SessionParts): string {
  for (let attempt = 0; attempt < 8; attempt++) {
    const id = settings.ids();
    if (!delivery.hasSeen(id)) return id;
  }
  throw new AccpError({
    code: 'E9999',
    message: 'The source of identifiers gives one that is taken, again and again.',
  });
}

function sessionIdFor({ settings }: Engine, { options, facts }: SessionParts): string | undefined {
  if (settings.sessionId === 'always') return options.id;
  if (facts.get(SAID_ID) === true) return undefined;
  facts.set(SAID_ID, true);
  return options.id;
}

/** Under this name a session keeps that its identifier was said. */
export const SAID_ID = 'said-id';

/** Whether strings are transliterated, and may be. */
interface TextState {
  /** How this side writes. */
  readonly writing: 'transliterate' | 'reject' | 'externalize';
  /** Whether the other side undoes transliteration whatever we write: it was told that we know of it. */
  readonly undone: boolean;
  /** Whether `agent` transliterates. */
  readonly reading: boolean;
}

/** What was agreed on strings that the grammar cannot write, with one peer (section 6.4). */
export function textState({ settings }: Engine, { peers, facts }: SessionParts, agent: string): TextState {
  const { text } = settings;
  if (text === 'transliterate') return { writing: text, undone: true, reading: true };
  const reading = peers.get(agent)?.announcement.text === 'transliterate';
  if (text !== undefined) return { writing: text, undone: false, reading };
  const undone = facts.get(ANNOUNCED) !== undefined;
  return { writing: undone && allAnnounced(peers) ? 'transliterate' : 'reject', undone, reading };
}

/** Under this name a session keeps the hash of our registry as it was announced last. */
export const ANNOUNCED = 'announced';

function allAnnounced(peers: SessionParts['peers']): boolean {
  if (peers.size === 0) return false;
  for (const { announcement } of peers.values()) if (announcement.text !== 'transliterate') return false;
  return true;
}

/** Puts a frame into the debug log, with its plain English where that is asked for (section 9, item 1). */
export function noteFrame(
  type: 'sent' | 'received',
  { text, seq }: Pick<Sent, 'text' | 'seq'>,
  parts: SessionParts,
  { settings }: Engine,
): void {
  const told = settings.explain ? tryParseFrame(text, { dialect: settings.dialect }) : undefined;
  const message = told?.ok ? explainFrame(told.value) : `Frame ${seq} was ${type}.`;
  parts.note(type, message, { frame: text, details: { sequence: seq } });
}
