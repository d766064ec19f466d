// biome-ignore-all lint/correctness/noNodejsModules: servers require Node
/** A server for the page of an inspector. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { answer, listenOn, toOriginForm } from '../channels/node/listen.js';
import { INSPECT_PATH, inspectorPages, type PagesOptions } from './pages.js';

/** Options of {@link startInspector}. */
export interface InspectorOptions extends Omit<PagesOptions, 'token'> {
  /** The bearer token. @default a random one */
  readonly token?: string | undefined;
  /** The port; 0 for a free one. @default 4713 */
  readonly port?: number | undefined;
  /** The address to listen on. @default '127.0.0.1' */
  readonly host?: string | undefined;
}

/** A server for the page of an inspector. */
export interface Inspector {
  /** The URL of the page, with the token in its fragment, which browsers do not send. */
  readonly url: string;
  /** Closes the server and its connections. */
  readonly close: () => Promise<void>;
}

/** Returns a random token. */
export function randomToken(): string {
  return randomBytes(24).toString('base64url');
}

/**
 * Starts a server for the page of an inspector. On the loopback, the `Host` header must name this machine. Pages of other origins are refused.
 *
 * @throws ServeError if it cannot listen
 * @throws TypeError if an option is invalid
 */
export async function startInspector(options: InspectorOptions): Promise<Inspector> {
  const { port = 4713, host = '127.0.0.1', token = randomToken() } = options;
  const pages = inspectorPages({ ...options, token });
  let close!: () => Promise<void>;
  const bound = await listenOn({ port, host, token, insecure: false, origins: [] }, (admission) => {
    const server = createServer((request, response) => {
      toOriginForm(request);
      const refusal = admission.checkNames(request.headers);
      if (refusal !== null) answer(response, refusal.status);
      else if (!pages.answer(request, response)) answer(response, 404);
    });
    close = () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    return server;
  });
  return { url: pageUrl(`http://${bound.authority}`, token), close };
}

/** Returns the URL of the inspector of a server. @param origin the scheme, host and port */
export function pageUrl(origin: string, token: string): string {
  return `${origin}${INSPECT_PATH}#token=${encodeURIComponent(token)}`;
}
