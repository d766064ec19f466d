// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node

import type { IncomingMessage } from 'node:http';
import { visible } from '../../text/visible.js';

export interface AccessEntry {
  /** Arrival of the request, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly remoteAddress: string;
  readonly method: string;
  /** Without the query, where people put secrets. */
  readonly path: string;
  /** Of the response; 101 for a WebSocket, 0 if the client left before there was one. */
  readonly status: number;
  /** Milliseconds until the end of the response or the WebSocket. */
  readonly durationMs: number;
  /** Bytes sent on the connection meanwhile, headers included. */
  readonly bytes: number;
  /** Why it was refused, how a WebSocket was closed, or that the response was cut off. */
  readonly note?: string | undefined;
}

const MAX_PATH = 200;

/** Formats an entry as one line. Control characters are made visible. */
export function accessLine({
  startedAt,
  remoteAddress,
  method,
  path,
  status,
  durationMs,
  bytes,
  note,
}: AccessEntry): string {
  const shown = visible(path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}...` : path);
  const said = note === undefined ? '' : ` (${visible(note)})`;
  return `${new Date(startedAt).toISOString()} ${remoteAddress} ${method} ${shown} ${status} ${durationMs}ms ${bytes}B${said}`;
}

export function observed({ method = '-', url = '/', socket }: IncomingMessage, onAccess: (entry: AccessEntry) => void) {
  const path = pathOf(url);
  const startedAt = Date.now();
  const start = performance.now();
  const sent = socket.bytesWritten;
  // A closed socket does not know it any more.
  const remoteAddress = socket.remoteAddress ?? '-';
  return {
    path,
    tell: (status: number, note: string | undefined): void => {
      const durationMs = Math.round(performance.now() - start);
      const bytes = socket.bytesWritten - sent;
      const entry = { startedAt, remoteAddress, method, path, status, durationMs, bytes };
      onAccess(note === undefined ? entry : { ...entry, note });
    },
  };
}

/** `*` is not a path. */
function pathOf(url: string): string {
  const address = `http://localhost${url}`;
  return url.startsWith('/') && URL.canParse(address) ? new URL(address).pathname : url;
}
