/**
 * Registry sync at the initialization of MCP (draft-benzing-accp-00, sections 6.4 and 11.3). Announcements do not belong to a session: they are
 * decoded in a session of their own, and sessions adopt the result.
 */

import { withoutBlanks } from '../../../text/ascii.js';
import type { Codec } from '../../codec/codec.js';
import { AccpError } from '../../errors.js';
import { parseFrame } from '../../parse.js';
import { printFrame } from '../../print.js';
import { COMMON_REGISTRY, matchesHash } from '../../registry/registry.js';
import type { SequenceMode } from '../../session/delivery.js';
import type { Peer } from '../../session/registries.js';
import { createSession, partsOfSession, type Session } from '../../session/session.js';
import { FRAME_TYPE, readHead } from '../frames.js';
import { frameResource, framesIn } from './content.js';
import { members, type RegistryClient, type ResourceResult } from './sdk-shapes.js';

/** Options of {@link createRegistryExchange}. */
export interface RegistryExchangeOptions {
  /** The codec whose registry is announced. */
  readonly codec: Codec;
  /** The agent of the sessions. */
  readonly agent: string;
  /** The numbering of the sessions, which both sides must agree on. @default 'sender' */
  readonly sequence?: SequenceMode | undefined;
  /** The maximum number of announcements of peers that are kept. @default 256 */
  readonly maxPeers?: number | undefined;
}

/** The registry of this side, and those of its peers. */
export interface RegistryExchange {
  /** The codec whose registry is announced. */
  readonly codec: Codec;
  /** The numbering of the sessions. */
  readonly sequence: SequenceMode;
  /** Version and hash: a `sync:registry` frame without a session, for the instructions of a server. */
  readonly announcement: string;
  /** Version, hash and all schemas of this side, if there are any: for the resource, and for the capabilities of clients. */
  readonly full: readonly string[];
  /** Returns the content of the resource `accp://registry`, as a callback of `registerResource`. */
  readonly resource: (uri: string | URL) => ResourceResult;
  /**
   * Accepts the announcement of a peer.
   *
   * @throws AccpError if the frames announce no registry, E5001 if the schemas do not have the announced hash
   */
  readonly agree: (frames: string | readonly string[]) => Agreement;
}

/** The result of registry sync. */
export interface Agreement {
  /** The agent of the announcement. */
  readonly agent: string;
  /** The version of its registry. */
  readonly version: number;
  /** The hash of its registry as announced, usually a prefix. */
  readonly hash: string;
  /** `true` if this side knows all schemas of the peer. */
  readonly complete: boolean;
  /** Applies the result to a session, as if the frames had been exchanged in it. */
  readonly apply: (session: Session) => void;
}

/**
 * Creates one side of registry sync, which serves any number of connections.
 *
 * Source: draft-benzing-accp-00, sections 6.4 and 11.3.
 *
 * @throws TypeError if an option is invalid
 */
export function createRegistryExchange(options: RegistryExchangeOptions): RegistryExchange {
  const { codec, agent, sequence = 'sender', maxPeers = 256 } = options;
  if (!(maxPeers >= 1)) throw new TypeError(`maxPeers must be a number >= 1; got ${maxPeers}`);
  const open = (firstSequence?: number): Session => createSession({ agent, sequence, firstSequence });
  // Rejects invalid names and modes now, and not in the middle of a connection.
  open().close();
  const agreements = new Map<string, Agreement>();
  let own: OwnFrames | undefined;

  const frames = (): OwnFrames => {
    if (own?.hash !== codec.registry.hash) own = ownFrames(codec, open);
    return own!;
  };

  return {
    codec,
    sequence,
    get announcement() {
      return frames().announcement;
    },
    get full() {
      return frames().full;
    },
    resource: (uri) => frameResource(uri, frames().full),
    agree: (announcement) => {
      const all = typeof announcement === 'string' ? [announcement] : announcement;
      const key = [codec.registry.hash, ...all].join('\n');
      const known = agreements.get(key);
      agreements.delete(key);
      const agreement = known ?? agree(all, codec, open);
      agreements.set(key, agreement);
      if (agreements.size > maxPeers) agreements.delete(agreements.keys().next().value!);
      return agreement;
    },
  };
}

type OwnFrames = ReturnType<typeof ownFrames>;

/** A peer with an unknown registry, which gets all schemas. */
const UNKNOWN_PEER: Peer = { announcement: { version: 1, hash: 'none' } };

function ownFrames(codec: Codec, open: () => Session) {
  const { hash } = codec.registry;
  const announced = codec.announce(open()).frames.map(withoutSession);
  if (hash === COMMON_REGISTRY.hash) return { hash, announcement: announced[0]!, full: announced };
  const session = open();
  partsOfSession(session).registries.peers.set('stranger', UNKNOWN_PEER);
  return { hash, announcement: announced[0]!, full: codec.announce(session).frames.map(withoutSession) };
}

/** Removes the session from a frame, so that the frame is for any client and any session. */
function withoutSession(text: string): string {
  const frame = parseFrame(text);
  return printFrame({ ...frame, metadata: frame.metadata!.filter(({ key }) => key !== 'sid') });
}

function agree(frames: readonly string[], codec: Codec, open: (first?: number) => Session): Agreement {
  const session = open(readHead(frames[0] ?? '')?.seq);
  for (const frame of frames) {
    const outcome = codec.decode(frame, session);
    if (outcome.outcome === 'rejected') throw outcome.error;
  }
  const [entry] = [...partsOfSession(session).registries.peers.entries()];
  if (entry === undefined) throw new AccpError({ code: 'E1004', message: 'The frames do not announce a registry.' });
  const [agent, peer] = entry;
  const { registry } = codec;
  const { version, hash } = peer.announcement;
  return {
    agent,
    version,
    hash,
    complete: peer.registry !== undefined || matchesHash(registry, hash) || matchesHash(COMMON_REGISTRY, hash),
    apply: (target) => applyAgreement(target, agent, { ...peer, known: registry.hash }),
  };
}

/** Applies an agreement to a session, but keeps newer announcements of the session itself. */
function applyAgreement(session: Session, agent: string, peer: Peer): void {
  const { registries, commit, options } = partsOfSession(session);
  const { peers } = registries;
  // Tools read the payloads of frames.
  commit(() => registries.refuseCompact('binding'));
  const { sequence, version, hash } = peer.announcement;
  if (sequence !== undefined && sequence !== options.sequence) {
    throw new TypeError(
      `The session must be numbered by ${sequence}, as agreed; it is numbered by ${options.sequence}`,
    );
  }
  const before = peers.get(agent);
  const isSame = before !== undefined && before.announcement.hash === hash && before.known === peer.known;
  if (isSame && (before.registry !== undefined || peer.registry === undefined) && registries.announced !== undefined)
    return;
  commit(() => {
    if (before === undefined || before.announcement.version <= version) peers.set(agent, peer);
    registries.announced = peer.known!;
  });
}

/** The URI of the resource that contains the whole registry of a server. */
export const REGISTRY_URI = 'accp://registry';

/**
 * Adds an announcement to the instructions of a server, as a separate line.
 *
 * @example
 * new McpServer(info, { instructions: withRegistry('Searches the archive.', exchange.announcement) });
 */
export function withRegistry(instructions: string | undefined, frame: string): string {
  return instructions === undefined || instructions === '' ? frame : `${instructions}\n${frame}`;
}

/** Returns the frame with which a server announces its registry; `null` if there is none. */
export function registryIn(instructions: string | undefined): string | null {
  for (const line of instructions?.split(/\r?\n/) ?? []) {
    const text = withoutBlanks(line);
    // Prose is not parsed.
    if (text.startsWith('@') && isRegistrySync(text)) return text;
  }
  return null;
}

function isRegistrySync(text: string): boolean {
  const head = readHead(text);
  return head?.intent === 'sync' && head.operation === 'registry';
}

/**
 * Creates the experimental capability with which a client announces its registry.
 *
 * @param frames `exchange.full`; a server cannot ask a client for missing schemas
 * @example
 * new Client(info, { capabilities: { experimental: registryCapability(exchange.full) } });
 */
export function registryCapability(frames: string | readonly string[]): { [name: string]: { registry: string[] } } {
  return { [FRAME_TYPE]: { registry: typeof frames === 'string' ? [frames] : [...frames] } };
}

/**
 * Returns the frames that a client announces in its capabilities; none if it does not support ACCP.
 *
 * @param capabilities `server.server.getClientCapabilities()`; since revision 2026-07-28, clients send them with each request
 */
export function registryInCapabilities(capabilities: unknown): readonly string[] {
  const announced = members(members(members(capabilities)?.['experimental'])?.[FRAME_TYPE])?.['registry'];
  const frames: readonly unknown[] = Array.isArray(announced) ? announced : [announced];
  return frames.filter((frame) => typeof frame === 'string');
}

/** Registries that were read from servers, by announcement. */
const READ = new WeakMap<RegistryExchange, Map<string, Agreement>>();
const MAX_READ = 256;

/**
 * Accepts the registry that a connected server announces in its instructions. If it differs from the one of this side, the whole registry is
 * read from `accp://registry`, once for each hash.
 *
 * Source: draft-benzing-accp-00, sections 6.4 and 11.3.
 *
 * @returns the agreement; if the server does not support ACCP, an agreement with the agent `mcp`, whose frames `callTool` creates
 * @throws AccpError if the frames announce no registry, E5001 if the resource does not match the announcement
 * @throws the error of the client if the resource cannot be read
 */
export async function readRegistry(client: RegistryClient, exchange: RegistryExchange): Promise<Agreement> {
  const frame = registryIn(client.getInstructions());
  if (frame === null) return mcpAgreement(exchange, MCP_AGENT);
  const announced = exchange.agree(frame);
  if (announced.complete) return announced;
  const read = READ.get(exchange) ?? new Map<string, Agreement>();
  READ.set(exchange, read);
  const key = `${announced.agent} ${announced.version} ${announced.hash}`;
  const known = read.get(key);
  if (known !== undefined) return known;
  const resource = members(await client.readResource({ uri: REGISTRY_URI }));
  const full = exchange.agree(framesIn(resource?.['contents']));
  checkAnnounced(full, announced);
  read.set(key, full);
  if (read.size > MAX_READ) read.delete(read.keys().next().value!);
  return full;
}

/** Checks a registry against its announcement. The registry may have grown in between. */
function checkAnnounced(full: Agreement, announced: Agreement): void {
  const isSame = full.hash.startsWith(announced.hash) || announced.hash.startsWith(full.hash);
  if (full.agent === announced.agent && full.complete && (isSame || full.version > announced.version)) return;
  throw new AccpError({ code: 'E5001', message: `The registry at ${REGISTRY_URI} does not match the announcement.` });
}

/** The agent of the frames that the binding creates for a server that does not support ACCP. */
export const MCP_AGENT = 'mcp';

const EXCHANGES = new WeakMap<Codec, Map<string, RegistryExchange>>();

/** Returns the agreement with an agent that uses the same codec: both sides know the registry of the other. */
export function mcpAgreement(
  { codec, sequence }: Pick<RegistryExchange, 'codec' | 'sequence'>,
  agent: string,
): Agreement {
  const exchanges = EXCHANGES.get(codec) ?? new Map<string, RegistryExchange>();
  EXCHANGES.set(codec, exchanges);
  const key = `${sequence} ${agent}`;
  const exchange = exchanges.get(key) ?? createRegistryExchange({ codec, agent, sequence });
  exchanges.set(key, exchange);
  return exchange.agree(exchange.announcement);
}

/** Creates the peer of a session, as if the server supported ACCP: its next frame has the expected number. */
export function createMcpPeer(agent: string, session: Session, codec: Codec): Session {
  const { options, delivery } = partsOfSession(session);
  const { sequence } = options;
  const peer = createSession({ agent, id: session.id, sequence, firstSequence: delivery.expected(agent) });
  mcpAgreement({ codec, sequence }, session.agent).apply(peer);
  mcpAgreement({ codec, sequence }, agent).apply(session);
  return peer;
}
