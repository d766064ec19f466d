// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node
import type { IncomingMessage } from 'node:http';

/** A request may name a whole address, as proxies are asked; then that says whom it is for, and not `Host` (RFC 9112, section 3.2.2). */
export function toOriginForm(request: IncomingMessage): void {
  const { url = '/' } = request;
  if (url.startsWith('/') || !URL.canParse(url)) return;
  const { host, pathname, search } = new URL(url);
  request.url = `${pathname}${search}`;
  request.headers.host = host;
}
