/** What all parts of a runtime share. */
import type { Engine } from './engine/engine.js';
import type { Authenticate } from './sessions/auth.js';
import type { Feed } from './sessions/feed.js';
import type { Capabilities, Sent, Session } from './sessions/session.js';
import type { Uploader } from './streams.js';
import type { Work } from './types.js';

export interface Settings {
  readonly version: string;
  readonly authenticate: Authenticate;
  readonly capabilities: Capabilities;
  readonly heartbeatMs: number;
  readonly maxMessageBytes: number;
  /** Jobs of one principal that have not ended. */
  readonly maxJobs: number;
  /** Milliseconds for which a session without a connection can be taken up again. */
  readonly resumeWindowMs: number;
  /** Milliseconds for which what has ended is kept. */
  readonly retentionMs: number;
  /** The wall clock, which messages carry. */
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

/** A connection, as what is done with its messages sees it. */
export interface ConnectionContext {
  readonly core: Core;
  readonly engine: Engine;
  /** @throws ArcpError `FAILED_PRECONDITION` where there is none */
  readonly session: Session;
  readonly feed: Feed;
  /** The connection as who sends streams. */
  readonly uploader: Uploader;
  /** Says something that is not kept. */
  readonly send: (body: string) => void;
  /** The session is closed: nothing but another one can follow. */
  readonly closeSession: () => void;
  /** There is something more to call. */
  readonly announceWork: (added: { readonly kind: string; readonly name: string }) => void;
  /** The session goes on elsewhere. */
  readonly handOver: (why: string) => Promise<void>;
}

export interface Core {
  readonly settings: Settings;
  /** Names this run: sessions that are not durable end with it. */
  readonly boot: string;
  /** What outlives a connection. */
  readonly durable: Engine;
  /** What does not: stateless sessions. */
  readonly transient: Engine;
  /** By the ids of the sessions that they carry. */
  readonly connections: Map<string, ConnectionContext>;
  /** Commands that are being carried out, by their principals and ids. */
  readonly running: Map<string, Promise<void>>;
  readonly find: (kind: Work['kind'], name: string) => Work | undefined;
  readonly works: () => Iterable<Work>;
  /** Whether nothing new is begun any more. */
  readonly isDraining: () => boolean;
  /** The connection of a session has ended. */
  readonly onDisconnected: (session: Session, engine: Engine, sent: Sent | undefined) => Promise<void>;
}
