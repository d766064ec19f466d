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
  readonly #own: readonly (readonly [name: string, value: string])[];

  /**
   * @param path the path of the requests
   * @param own the `Cookie` header of the program, whose values are not replaced
   */
  constructor(path: string, own = '') {
    this.#path = path;
    this.#own = own.split(';').map(withoutBlanks).filter(Boolean).map(splitPair);
  }

  /** Stores the cookies of a response. */
  store(headers: { readonly getSetCookie?: () => string[] }): void {
    for (const cookie of headers.getSetCookie?.() ?? []) this.#store(cookie);
  }

  #store(cookie: string): void {
    const [pair = '', ...attributes] = cookie.split(';').map(withoutBlanks);
    const [name, value] = splitPair(pair);
    if (name === '') return;
    const isDeleted = attributes.some(isInThePast);
    const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice('path='.length);
    if (path !== undefined && !this.#isBelow(path)) return;
    if (isDeleted) this.#values.delete(name);
    else this.#values.set(name, value);
  }

  #isBelow(path: string): boolean {
    if (!path.startsWith('/') || path === this.#path) return true;
    return this.#path.startsWith(path.endsWith('/') ? path : `${path}/`);
  }

  /** Returns the `Cookie` header; `undefined` if there are none. */
  header(): string | undefined {
    const all = new Map([...this.#values, ...this.#own]);
    if (all.size === 0) return undefined;
    return [...all].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}

/** Splits `name=value`. The name is empty if there is none. */
function splitPair(pair: string): [name: string, value: string] {
  const equals = pair.indexOf('=');
  return [pair.slice(0, Math.max(equals, 0)), pair.slice(equals + 1)];
}

function isInThePast(attribute: string): boolean {
  const maxAge = /^max-age=(-?[0-9]+)$/i.exec(attribute)?.[1];
  if (maxAge !== undefined) return Number(maxAge) <= 0;
  const expires = /^expires=(.+)$/i.exec(attribute)?.[1];
  return expires !== undefined && Date.parse(expires) <= Date.now();
}
