// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node
/** One request or connection, as the access log has it. */
import type { IncomingMessage } from 'node:http';
import type { AccessEntry } from './access-log.js';

export interface Observed {
  /** Without what stands behind `?`. */
  readonly path: string;
  /** Tells that it is over. */
  readonly tell: (status: number, note: string | undefined) => void;
}

export function observed(
  { method = '-', url = '/', socket }: IncomingMessage,
  onAccess: (entry: AccessEntry) => void,
): Observed {
  const path = pathOf(url);
  const time = new Date();
  const began = performance.now();
  const sent = socket.bytesWritten;
  // Of a closed socket it cannot be asked any more.
  const remote = socket.remoteAddress ?? '-';
  return {
    path,
    tell: (status, note) => {
      const ms = Math.round(performance.now() - began);
      const bytes = socket.bytesWritten - sent;
      onAccess({
        time: time.toISOString(),
        remote,
        method,
        path,
        status,
        ms,
        bytes,
        ...(note === undefined ? {} : { note }),
      });
    },
  };
}

/** Of what a request names; `*` is no path. */
function pathOf(url: string): string {
  const address = `http://localhost${url}`;
  return url.startsWith('/') && URL.canParse(address) ? new URL(address).pathname : url;
}
