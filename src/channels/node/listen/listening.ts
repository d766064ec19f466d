// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node
/** Where a server listens, and what may be in the way. */

import { lookup } from 'node:dns/promises';
import type { Server } from 'node:http';
import { isIPv6 } from 'node:net';
import { systemReason } from '../../../text/system-reason.js';
import { ServeError } from './errors.js';

/**
 * The address of a name, or of itself.
 *
 * @throws ServeError `cannot-listen`
 */
export async function addressOf(host: string): Promise<string> {
  try {
    return (await lookup(host)).address;
  } catch (thrown) {
    throw new ServeError('cannot-listen', `There is no address for ${host}`, thrown);
  }
}

/** @throws ServeError where it cannot listen there */
export function listening(server: Server, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const place = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
      if (error.code === 'EADDRINUSE') reject(new ServeError('in-use', `Somebody listens on ${place} already`, error));
      else reject(new ServeError('cannot-listen', `Cannot listen on ${place}: ${systemReason(error)}`, error));
    });
    server.listen(port, address, resolve);
  });
}
