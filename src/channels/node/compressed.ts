/** Files of pages, which are stored compressed. */
import { gunzipSync } from 'node:zlib';
import type { AnyRequest, AnyResponse } from './http-server.js';

/** The types of the files of pages, by the ends of their names. */
export const PAGE_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Ends a response with a file, compressed if the client accepts that. @param packed the file, compressed by gzip */
export function endWithFile(request: AnyRequest, response: AnyResponse, packed: Buffer): void {
  const isPacked = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  response.setHeader('vary', 'accept-encoding');
  if (isPacked) response.setHeader('content-encoding', 'gzip');
  response.end(request.method === 'HEAD' ? '' : isPacked ? packed : gunzipSync(packed));
}
