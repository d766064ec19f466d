// biome-ignore-all lint/correctness/noNodejsModules: servers require Node
import { afterUnref } from '../../async/timers.js';
import { GrowingBytes } from '../body.js';
import type { AnyRequest } from './http-server.js';

/**
 * Why a body is not whole.
 *
 * - `too-long`: it is longer than allowed
 * - `late`: it has not arrived in time
 * - `cut`: the client has gone
 */
export type BodyFault = 'too-long' | 'late' | 'cut';

/** The body of a request. */
export interface RequestBody {
  /** The body, or its beginning if there is a fault; one that is too long by at least one byte. */
  readonly bytes: Buffer;
  readonly fault: BodyFault | undefined;
}

/**
 * Reads the body of a request. The rest of one that is too long or late is discarded.
 *
 * @param timeoutMs milliseconds for the whole body. Over HTTP/1.1, Node has such a limit too; over HTTP/2, a body may stay open for ever.
 */
export function readRequestBody(request: AnyRequest, maxBytes: number, timeoutMs: number): Promise<RequestBody> {
  return new Promise((resolve) => {
    const body = new GrowingBytes();
    const finish = (fault?: BodyFault): void => {
      cancel();
      request.off('data', take).resume();
      resolve({ bytes: Buffer.from(body.bytes.buffer, 0, body.length), fault });
    };
    const take = (chunk: Buffer): void => {
      body.push(chunk);
      if (body.length > maxBytes) finish('too-long');
    };
    const cancel = afterUnref(timeoutMs, () => finish('late'));
    const cut = (): void => finish('cut');
    // A stream of HTTP/2 that is reset ends like one that is complete.
    request.on('data', take).once('end', () => finish(request.aborted ? 'cut' : undefined));
    request.once('aborted', cut).once('error', cut).once('close', cut);
  });
}
