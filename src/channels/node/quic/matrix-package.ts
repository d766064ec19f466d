/** The part of the packages `@matrixai/quic` and `@infisical/quic` that the driver uses. */
import type { EventEmitter } from 'node:events';
import { ignoreRejection, notifyListener } from '../../../async/listeners.js';
import type { WebStreams } from './web-duplex.js';

/** The package `@matrixai/quic`, or a fork of it such as `@infisical/quic`. */
export interface MatrixPackage {
  /** The class of clients. */
  readonly QUICClient: unknown;
  /** The class of servers. */
  readonly QUICServer: unknown;
  /** The class of UDP sockets. */
  readonly QUICSocket: unknown;
}

/** The classes of the package. */
export interface MatrixClasses {
  readonly QUICSocket: new (options: object) => MatrixSocket;
  readonly QUICServer: new (options: object) => MatrixServer;
  readonly QUICClient: (new (
    options: object,
  ) => MatrixClient) & {
    readonly createQUICClient: (options: object, context: { readonly timer: number }) => Promise<MatrixClient>;
  };
}

interface Evented {
  readonly addEventListener: (type: string, listen: (event: { readonly detail: unknown }) => void) => void;
}

export interface MatrixStream extends Evented, WebStreams {
  readonly streamId: number;
  /** Resolves when both directions are closed. */
  readonly closedP: Promise<void>;
}

export interface MatrixConnectionLike extends Evented {
  readonly remoteHost: string;
  /** The connection of quiche. */
  readonly conn: {
    /** Throws if the stream has ended, and the other side has acknowledged everything. */
    readonly streamCapacity: (streamId: number) => number;
    readonly isDraining: () => boolean;
    readonly isClosed: () => boolean;
  };
  /** Resolves when the connection has ended. */
  readonly closedP: Promise<void>;
  readonly newStream: (type: 'bidi') => MatrixStream;
  readonly stop: (options: { readonly force: boolean }) => Promise<void>;
}

export interface MatrixSocket extends Evented {
  readonly port: number;
  /** The UDP socket, once started. */
  readonly socket?: EventEmitter & { readonly close: () => void };
  readonly connectionMap: {
    readonly size: number;
    set: (id: unknown, connection: MatrixConnectionLike) => unknown;
  };
  handleSocketMessage: (data: Buffer, from: object) => Promise<void>;
  readonly start: (options: { readonly host: string; readonly port: number }) => Promise<void>;
  readonly stop: (options: { readonly force: boolean }) => Promise<void>;
}

interface MatrixServer extends Evented {
  acceptConnection: (...args: readonly unknown[]) => Promise<unknown>;
  readonly start: () => Promise<void>;
  readonly stop: (options: { readonly force: boolean }) => Promise<void>;
}

interface MatrixClient extends Evented {
  readonly connection: MatrixConnectionLike;
}

/** Returns the classes of a package; those of a CommonJS package may be in its default export. @throws TypeError if it has none */
export function classesOf(given: MatrixPackage | { readonly default: MatrixPackage }): MatrixClasses {
  const found = [given, (given as { readonly default?: unknown } | undefined)?.default].find(
    (one) => typeof (one as Partial<MatrixPackage> | undefined)?.QUICClient === 'function',
  );
  if (found === undefined) throw new TypeError('matrixQuic requires the package @matrixai/quic, or a fork of it');
  return found as MatrixClasses;
}

/** A logger that writes nothing: the one of the package writes to stderr. */
export const SILENT = {
  debug: (): void => {},
  info: (): void => {},
  warn: (): void => {},
  error: (): void => {},
  getChild: (): object => SILENT,
};

/** Receives the errors of listeners, which would end the process. */
export function guard(one: Evented, onError: (error: unknown) => void): void {
  one.addEventListener('EventError', ({ detail }) => notifyListener(() => onError(detail)));
}

/**
 * Creates a UDP socket that does not end the process.
 *
 * @param onConnection receives each connection before its first packet
 */
export function guardedSocket(
  { QUICSocket }: MatrixClasses,
  onError: (error: unknown) => void,
  onConnection: (connection: MatrixConnectionLike) => void,
): MatrixSocket {
  const socket = new QUICSocket({ logger: SILENT });
  guard(socket, onError);
  const { handleSocketMessage, connectionMap } = socket;
  // Nothing handles its rejections.
  socket.handleSocketMessage = (data, from) =>
    handleSocketMessage(data, from).catch((error: unknown) => notifyListener(() => onError(error)));
  const set = connectionMap.set.bind(connectionMap);
  connectionMap.set = (id, connection) => {
    guard(connection, (error) => {
      onError(error);
      // The package leaves a connection as it is after an error of its own.
      ignoreRejection(connection.stop({ force: true }));
    });
    onConnection(connection);
    return set(id, connection);
  };
  return socket;
}

/** Starts a socket. @throws Error of the system if the address cannot be used */
export async function startSocket(
  socket: MatrixSocket,
  address: { readonly host: string; readonly port: number },
  onError: (error: unknown) => void,
): Promise<void> {
  try {
    await socket.start(address);
  } catch (error) {
    socket.socket?.close();
    throw (error as { readonly cause?: unknown }).cause ?? error;
  }
  // An error event without a listener ends the process.
  socket.socket?.on('error', (error) => notifyListener(() => onError(error)));
}
