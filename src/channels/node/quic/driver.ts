/** The interface of an implementation of QUIC. Node 20 has none, so one is handed in. */
import type { Duplex } from 'node:stream';

/** An implementation of QUIC (RFC 9000). None of its errors may end the process. */
export interface QuicDriver {
  /** Starts a server. @throws Error with the `code` of the system, or such a cause, if it cannot listen */
  readonly listen: (options: QuicListenOptions) => Promise<QuicServer>;
  /** Connects to a server, and verifies its certificate. @throws Error if there is no connection after `timeoutMs` */
  readonly connect: (options: QuicConnectOptions) => Promise<QuicConnection>;
}

/** The key and the certificate of a server, in PEM. */
export interface QuicKey {
  /** The private key. */
  readonly key: string;
  /** The certificate, followed by those of its issuers. */
  readonly cert: string;
}

/** Options of both sides. */
export interface QuicOptions {
  /** The application protocol (ALPN, RFC 7301), on which both sides must agree. */
  readonly protocol: string;
  /** Milliseconds without a packet from the other side after which the connection ends; `Infinity` for never. */
  readonly idleTimeoutMs: number;
}

/** Options of a server. */
export interface QuicListenOptions extends QuicOptions, QuicKey {
  /** The IP address. */
  readonly address: string;
  /** The port; 0 selects a free one. */
  readonly port: number;
  /** The maximum number of concurrent connections. The server ignores clients above it. */
  readonly maxConnections: number;
  /** The maximum number of concurrent streams of one connection. */
  readonly maxStreams: number;
  /** Receives each bidirectional stream that a client opens. */
  readonly onStream: (stream: Duplex, address: string) => void;
  /** Receives errors after which the server continues. */
  readonly onError: (error: unknown) => void;
}

/** Options of a client. */
export interface QuicConnectOptions extends QuicOptions {
  /** The IP address of the server. */
  readonly address: string;
  /** The UDP port of the server. */
  readonly port: number;
  /** The name for which the certificate must be valid. */
  readonly serverName: string;
  /** The certificates of the trusted authorities, in PEM; `undefined` for those of the system. */
  readonly ca: string | readonly string[] | undefined;
  /** Milliseconds between two packets that keep the connection alive. */
  readonly keepAliveMs: number;
  /** Milliseconds for the handshake. */
  readonly timeoutMs: number;
  /** Receives errors after which the process continues. */
  readonly onError: (error: unknown) => void;
}

/** A server. */
export interface QuicServer {
  /** The port on which it listens, never 0. */
  readonly port: number;
  /** Stops accepting connections and streams. Resolves when all connections have ended, each after its last stream, and the port is free. */
  readonly close: () => Promise<void>;
}

/** A connection to a server. */
export interface QuicConnection {
  /** Returns `true` until one of the sides closes the connection. */
  readonly isOpen: () => boolean;
  /** Opens a bidirectional stream. @throws Error if the connection has ended, or has no more streams */
  readonly openStream: () => Duplex;
  /** Closes the connection after its last stream, when the other side has acknowledged everything. */
  readonly close: () => Promise<void>;
}
