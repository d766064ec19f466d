import { withoutBlanks } from '../../text/ascii.js';

/**
 * The cookies of one connection. All its requests have the same address, so that only the name and value of a cookie, its path, and whether
 * it is deleted, matter. In browsers the platform keeps cookies, and this is empty.
 *
 * Source: ACP, RFD "Streamable HTTP & WebSocket Transport", section 5; RFC 6265, section 5.
 */
export class Cookies {
  readonly #path: string;
  readonly #values = new Map<string, string>();

  /** @param path the path of the requests */
  constructor(path: string) {
    this.#path = path;
  }

  /** Stores the cookies of a response. */
  store(headers: { readonly getSetCookie?: () => string[] }): void {
    for (const cookie of headers.getSetCookie?.() ?? []) this.#store(cookie);
  }

  #store(cookie: string): void {
    const [pair = '', ...attributes] = cookie.split(';').map(withoutBlanks);
    const equals = pair.indexOf('=');
    if (equals < 1) return;
    const name = pair.slice(0, equals);
    const isDeleted = attributes.some(isInThePast);
    const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice('path='.length);
    if (path !== undefined && !this.#isBelow(path)) return;
    if (isDeleted) this.#values.delete(name);
    else this.#values.set(name, pair.slice(equals + 1));
  }

  #isBelow(path: string): boolean {
    if (!path.startsWith('/') || path === this.#path) return true;
    return this.#path.startsWith(path.endsWith('/') ? path : `${path}/`);
  }

  /** Returns the `Cookie` header; `undefined` if there are none. */
  header(): string | undefined {
    if (this.#values.size === 0) return undefined;
    return [...this.#values].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}

function isInThePast(attribute: string): boolean {
  const maxAge = /^max-age=(-?[0-9]+)$/i.exec(attribute)?.[1];
  if (maxAge !== undefined) return Number(maxAge) <= 0;
  const expires = /^expires=(.+)$/i.exec(attribute)?.[1];
  return expires !== undefined && Date.parse(expires) <= Date.now();
}
