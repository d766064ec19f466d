// biome-ignore-all lint/correctness/noNodejsModules: servers require Node
import { constants } from 'node:http2';
import { afterUnref } from '../../async/timers.js';
import type { AnyRequest, AnyResponse } from './http-server.js';

/** A refused request: a status and a code that stays the same between versions. */
export interface HttpRefusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Milliseconds for the rest of the body of a refused request. */
const LINGER_MS = 2000;

/** Sends a refusal, whose body is `{"error": {"code", "message"}}`. HTTP/2 has no headers of a connection. */
export function refuse(request: AnyRequest, response: AnyResponse, refusal: HttpRefusal): void {
  const { status, code, message, headers = {} } = refusal;
  const isHttp2 = request.httpVersionMajor === 2;
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers))
    if (!(isHttp2 && (name === 'connection' || name === 'upgrade'))) response.setHeader(name, value);
  response.setHeader('cache-control', 'no-store');
  response.setHeader('content-type', 'application/json');
  const answer = (): void => void response.end(`${JSON.stringify({ error: { code, message } })}\n`);
  request.resume();
  if ('stream' in request) {
    // The rest of the body may never end, and would keep the stream open, and so the server.
    const { stream } = request;
    stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR));
  }
  if (request.complete || isHttp2 || status === 426) {
    answer();
    return;
  }
  // The rest of the body is discarded. A connection that is closed before it has arrived is reset, and the client loses the answer.
  response.setHeader('connection', 'close');
  const cancel = afterUnref(LINGER_MS, answer);
  request.once('end', () => {
    cancel();
    answer();
  });
}
