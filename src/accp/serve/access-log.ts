// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node

import type { IncomingMessage } from 'node:http';
import { visible } from '../../text/visible.js';

/** One request or WebSocket in the access log. */
export interface AccessEntry {
  /** Time of the request, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The IP address of the client, or `-` if it is unknown. */
  readonly remoteAddress: string;
  /** The method of the request. */
  readonly method: string;
  /** The path without the query, which may contain secrets. */
  readonly path: string;
  /** The status of the response; 101 for a WebSocket, 0 if the client disconnected before the response. */
  readonly status: number;
  /** Milliseconds until the end of the response or of the WebSocket. */
  readonly durationMs: number;
  /** Bytes that were sent on the connection meanwhile, including headers. */
  readonly bytes: number;
  /** The reason of a rejection, the close code of a WebSocket, or `cut off` for an incomplete response. */
  readonly note?: string | undefined;
}

const MAX_PATH = 200;

/** Formats an entry as one line. Control characters become visible symbols. */
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
  const suffix = note === undefined ? '' : ` (${visible(note)})`;
  return `${new Date(startedAt).toISOString()} ${remoteAddress} ${method} ${shown} ${status} ${durationMs}ms ${bytes}B${suffix}`;
}

/** Starts the entry of a request. `report` completes it and passes it to the listener. */
export function observeRequest(
  { method = '-', url = '/', socket }: IncomingMessage,
  onAccess: (entry: AccessEntry) => void,
) {
  const path = pathOf(url);
  const startedAt = Date.now();
  const start = performance.now();
  const bytesBefore = socket.bytesWritten;
  // A closed socket no longer has an address.
  const remoteAddress = socket.remoteAddress ?? '-';
  return {
    path,
    report: (status: number, note: string | undefined): void => {
      const durationMs = Math.round(performance.now() - start);
      const bytes = socket.bytesWritten - bytesBefore;
      const entry = { startedAt, remoteAddress, method, path, status, durationMs, bytes };
      onAccess(note === undefined ? entry : { ...entry, note });
    },
  };
}

/** Returns the path of a request target. Targets such as `*` are returned as they are. */
function pathOf(url: string): string {
  const address = `http://localhost${url}`;
  return url.startsWith('/') && URL.canParse(address) ? new URL(address).pathname : url;
}
