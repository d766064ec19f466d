/**
 * Registry sync at the initialization of MCP (draft-benzing-accp-00, sections 6.4 and 11.3). Announcements belong to no session: they are
 * read in a session of their own, and sessions take over the result.
 */

import { withoutBlanks } from '../../../text/ascii.js';
import type { Codec } from '../../codec/codec.js';
import { AccpError } from '../../errors.js';
import { parseFrame } from '../../parse.js';
import { printFrame } from '../../print.js';
import { createRegistry, matchesHash } from '../../registry/registry.js';
import type { SequenceMode } from '../../session/delivery.js';
import type { Peer } from '../../session/registries.js';
import { createSession, partsOfSession, type Session } from '../../session/session.js';
import { FRAME_TYPE, readHead } from '../frames.js';
import { frameResource, framesIn } from './content.js';
import { members, type RegistryClient, type ResourceResult } from './sdk-shapes.js';

export interface RegistryExchangeOptions {
  readonly codec: Codec;
  /** The agent of the sessions. */
  readonly agent: string;
  /** How the sessions count, which both sides have to know. @default 'sender' */
  readonly sequence?: SequenceMode | undefined;
  /** Announcements of others that are kept. @default 256 */
  readonly maxPeers?: number | undefined;
}

/** The own registry, and those of others. */
export interface RegistryExchange {
  readonly codec: Codec;
  readonly sequence: SequenceMode;
  /** Version and hash: a `sync:registry` frame without a session, for instructions. */
  readonly announcement: string;
  /** Version, hash and all own schemas, if there are any: for the resource, and for the capabilities of clients. */
  readonly full: readonly string[];
  /** The resource `accp://registry`, as a server reads it. */
  readonly resource: (uri: string | URL) => ResourceResult;
  /**
   * Accepts the announcement of another side.
   *
   * @throws AccpError if the frames announce no registry, E5001 if the schemas do not have the announced hash
   */
  readonly agree: (frames: string | readonly string[]) => Agreement;
}

/** The result of registry sync. */
export interface Agreement {
  /** The agent that announced. */
  readonly agent: string;
  readonly version: number;
  /** As it was announced: mostly a prefix. */
  readonly hash: string;
  /** Whether all schemas of the other side are known here. */
  readonly complete: boolean;
  /** Continues a session as if the frames had been exchanged in it. */
  readonly apply: (session: Session) => void;
}

/**
 * Makes one side of registry sync. One serves any number of connections.
 *
 * Source: draft-benzing-accp-00, sections 6.4 and 11.3.
 *
 * @throws TypeError if an option is invalid
 */
export function createRegistryExchange(options: RegistryExchangeOptions): RegistryExchange {
  const { codec, agent, sequence = 'sender', maxPeers = 256 } = options;
  if (!(maxPeers >= 1)) throw new TypeError(`maxPeers is a number from 1 on; got ${maxPeers}`);
  const open = (firstSequence?: number): Session => createSession({ agent, sequence, firstSequence });
  // Invalid names and modes are refused here, and not in the middle of a connection.
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
    agree: (told) => {
      const all = typeof told === 'string' ? [told] : told;
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

/** A peer with an unknown registry: it gets all schemas. */
const STRANGER: Peer = { announcement: { version: 1, hash: 'none' } };

const COMMON_REGISTRY = createRegistry();

function ownFrames(codec: Codec, open: () => Session) {
  const { hash } = codec.registry;
  const announced = codec.announce(open()).frames.map(withoutSession);
  if (hash === COMMON_REGISTRY.hash) return { hash, announcement: announced[0]!, full: announced };
  const session = open();
  partsOfSession(session).registries.peers.set('stranger', STRANGER);
  return { hash, announcement: announced[0]!, full: codec.announce(session).frames.map(withoutSession) };
}

/** The frame is for any client and any session. */
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
  const [told] = [...partsOfSession(session).registries.peers.entries()];
  if (told === undefined) throw new AccpError({ code: 'E1004', message: 'No registry is announced.' });
  const [agent, peer] = told;
  const { registry } = codec;
  const { version, hash } = peer.announcement;
  return {
    agent,
    version,
    hash,
    complete: peer.registry !== undefined || matchesHash(registry, hash) || matchesHash(COMMON_REGISTRY, hash),
    apply: (target) => takeOver(target, agent, { ...peer, known: registry.hash }),
  };
}

/** Keeps what frames of the session itself have announced since then. */
function takeOver(session: Session, agent: string, peer: Peer): void {
  const { registries, commit, options } = partsOfSession(session);
  const { peers } = registries;
  const { sequence, version, hash } = peer.announcement;
  if (sequence !== undefined && sequence !== options.sequence) {
    throw new TypeError(
      `The session counts by ${options.sequence}; what was agreed is for sessions that count by ${sequence}`,
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

/** The resource with all of a server's registry. */
export const REGISTRY_URI = 'accp://registry';

/**
 * Adds the announcement to the instructions of a server, as a line of its own.
 *
 * @example
 * new McpServer(info, { instructions: withRegistry('Searches the archive.', exchange.announcement) });
 */
export function withRegistry(instructions: string | undefined, frame: string): string {
  return instructions === undefined || instructions === '' ? frame : `${instructions}\n${frame}`;
}

/** Returns the frame by which a server has announced its registry; `null` if there is none. */
export function registryIn(instructions: string | undefined): string | null {
  for (const line of instructions?.split(/\r?\n/) ?? []) {
    const text = withoutBlanks(line);
    // Prose is not read as frames.
    if (text.startsWith('@') && isRegistrySync(text)) return text;
  }
  return null;
}

function isRegistrySync(text: string): boolean {
  const head = readHead(text);
  return head?.intent === 'sync' && head.operation === 'registry';
}

/**
 * Makes the experimental capability by which a client announces its registry.
 *
 * @param frames `exchange.full`; a server cannot ask a client for missing schemas
 * @example
 * new Client(info, { capabilities: { experimental: registryCapability(exchange.full) } });
 */
export function registryCapability(frames: string | readonly string[]): { [name: string]: { registry: string[] } } {
  return { [FRAME_TYPE]: { registry: typeof frames === 'string' ? [frames] : [...frames] } };
}

/**
 * Returns what a client has announced by its capabilities; nothing if it does not speak ACCP.
 *
 * @param capabilities `server.server.getClientCapabilities()`; since revision 2026-07-28, they come with each request
 */
export function registryInCapabilities(capabilities: unknown): readonly string[] {
  const told = members(members(members(capabilities)?.['experimental'])?.[FRAME_TYPE])?.['registry'];
  const frames: readonly unknown[] = Array.isArray(told) ? told : [told];
  return frames.filter((frame) => typeof frame === 'string');
}

/** Registries that were read, by announcement. */
const READ = new WeakMap<RegistryExchange, Map<string, Agreement>>();
const MAX_READ = 256;

/**
 * Accepts the registry that a connected server has announced in its instructions. If it differs from the own one, all of it is read from
 * `accp://registry`, once for each hash.
 *
 * Source: draft-benzing-accp-00, sections 6.4 and 11.3.
 *
 * @returns the agreement; with `mcp`, which stands in for the server in `callTool`, if the server does not speak ACCP
 * @throws AccpError if the frames announce no registry, E5001 if the resource does not match the announcement; what reading the resource throws
 */
export async function readRegistry(client: RegistryClient, exchange: RegistryExchange): Promise<Agreement> {
  const frame = registryIn(client.getInstructions());
  if (frame === null) return agreementWithStandIn(exchange, MCP_AGENT);
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

/** Between the announcement and the reading, the registry may have grown. */
function checkAnnounced(full: Agreement, announced: Agreement): void {
  const isSame = full.hash.startsWith(announced.hash) || announced.hash.startsWith(full.hash);
  if (full.agent === announced.agent && full.complete && (isSame || full.version > announced.version)) return;
  throw new AccpError({ code: 'E5001', message: `The registry at ${REGISTRY_URI} is not the one that was announced.` });
}

/** The agent that stands in for a program that does not speak ACCP. */
export const MCP_AGENT = 'mcp';

const EXCHANGES = new WeakMap<Codec, Map<string, RegistryExchange>>();

/** Both ends have one codec, so they know each other's registry, and how the other writes text. */
export function agreementWithStandIn(
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

/** Makes the other end of a session, as if the other side spoke ACCP: its next frame has the expected number. */
export function standInFor(agent: string, session: Session, codec: Codec): Session {
  const { options, delivery } = partsOfSession(session);
  const { sequence } = options;
  const standIn = createSession({ agent, id: session.id, sequence, firstSequence: delivery.expected(agent) });
  agreementWithStandIn({ codec, sequence }, session.agent).apply(standIn);
  agreementWithStandIn({ codec, sequence }, agent).apply(session);
  return standIn;
}
