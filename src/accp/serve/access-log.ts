/** What a server tells of each request and connection: neither tokens nor frames. */
import { visible } from '../../text/visible.js';

export interface AccessEntry {
  /** When it came, as ISO 8601. */
  readonly time: string;
  readonly remote: string;
  readonly method: string;
  /** Without what stands behind `?`, where people put secrets. */
  readonly path: string;
  /** Of the response; 101 for a WebSocket, 0 where the client left before there was one. */
  readonly status: number;
  /** Milliseconds until it was over; of a WebSocket, until it was closed. */
  readonly ms: number;
  /** Bytes sent on the connection meanwhile, headers included. */
  readonly bytes: number;
  /** Why it was refused, how a WebSocket was closed, or that the response was cut off. */
  readonly note?: string | undefined;
}

const MAX_PATH = 200;

/** One line for people. What a terminal would act on is shown. */
export function accessLine({ time, remote, method, path, status, ms, bytes, note }: AccessEntry): string {
  const shown = visible(path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}...` : path);
  const said = note === undefined ? '' : ` (${visible(note)})`;
  return `${time} ${remote} ${method} ${shown} ${status} ${ms}ms ${bytes}B${said}`;
}
