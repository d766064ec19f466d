/** The state that all parts of a runtime share. */
import type { Envelope } from '../protocol/envelope.js';
import type { Engine } from './engine/engine.js';
import type { Authenticate } from './sessions/auth.js';
import type { Capabilities, Sent, Session } from './sessions/session.js';
import type { SessionSubscription } from './sessions/subscription.js';
import type { Registration } from './types.js';
import type { Uploader } from './uploads/uploads.js';

export interface Settings {
  readonly version: string;
  readonly authenticate: Authenticate;
  readonly capabilities: Capabilities;
  readonly heartbeatMs: number;
  readonly maxMessageBytes: number;
  readonly maxJobs: number;
  readonly resumeWindowMs: number;
  readonly retentionMs: number;
  readonly now: () => number;
  /** Returns the SHA-256 hash of a text as 64 hexadecimal digits. */
  readonly sha256Hex: (text: string) => string;
  readonly onError: (error: unknown) => void;
}

/** A connection as seen by its commands. */
export interface ConnectionContext {
  readonly core: Core;
  readonly engine: Engine;
  readonly session: Session;
  readonly subscription: SessionSubscription;
  readonly uploader: Uploader;
  readonly send: (body: string) => void;
  readonly closeSession: () => void;
  readonly announce: (change: 'added' | 'removed', work: Registration) => void;
  readonly replace: () => Promise<void>;
  readonly end: () => Promise<void>;
}

/** The rate limits of clients, for the runtimes that run their jobs. */
export interface PeerLimits {
  /** Tells the backpressure of a client to the runtimes that run its jobs. */
  readonly limit: (connection: ConnectionContext, message: Envelope<'backpressure'>) => Promise<void>;
  /** Ends the limits of a session whose client has disconnected or closed it. */
  readonly unlimit: (session: Session) => Promise<void>;
  /** Ends the limits that the last connection of a session has left behind. */
  readonly forgetLimits: (sessionId: string) => Promise<void>;
}

export interface Core {
  readonly settings: Settings;
  /** Identifies this run of the runtime, with which sessions that are not durable end. */
  readonly boot: string;
  readonly durable: Engine;
  /** The engine of stateless sessions. */
  readonly transient: Engine;
  readonly connections: Map<string, ConnectionContext>;
  /** The other runtimes of the durable store. */
  readonly peers: PeerLimits;
  readonly running: Map<string, Promise<void>>;
  readonly find: (kind: Registration['kind'], name: string) => Registration | undefined;
  readonly registrations: () => Iterable<Registration>;
  readonly isDraining: () => boolean;
  readonly onDisconnected: (session: Session, engine: Engine, sent: Sent | undefined) => Promise<void>;
}
