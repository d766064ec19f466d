const REASONS: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of the path is no folder',
  ELOOP: 'the links in the path lead in a circle',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'there is no room left',
  EDQUOT: 'there is no room left',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  EADDRINUSE: 'something is there already',
  EADDRNOTAVAIL: 'this machine has no such address',
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the other side has broken it off',
  EPIPE: 'the other side has broken it off',
  UND_ERR_SOCKET: 'the other side has broken it off',
  ETIMEDOUT: 'nobody answers there',
  UND_ERR_CONNECT_TIMEOUT: 'nobody answers there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that host',
};

/** Messages of `fetch` and of libraries that say nothing; the cause does. */
const EMPTY: ReadonlySet<unknown> = new Set(['', 'fetch failed', 'terminated', 'Connection error.', undefined]);
const DEEPEST = 8;

interface Told {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/**
 * Words an error of the system or network without its code, call and place; searches causes and aggregated errors.
 * Returns part of a sentence; `missing` stands for ENOENT.
 */
export function systemReason(thrown: unknown, missing = 'there is no such file'): string {
  const { code, message } = tellingOf(thrown);
  const text = String(message ?? thrown);
  if (typeof code !== 'string') return text;
  if (code === 'ENOENT') return missing;
  if (Object.hasOwn(REASONS, code)) return REASONS[code]!;
  // "ETXTBSY: text file is busy, open 'x'", as Node composes it.
  return text.startsWith(`${code}: `) ? text.slice(code.length + 2).replace(/, [a-z_]+(?: '.*)?$/s, '') : text;
}

/** The first of an error and its causes that says something. */
function tellingOf(thrown: unknown): Told {
  let at = (thrown ?? {}) as Told;
  for (let depth = 0; depth < DEEPEST; depth++) {
    if (!EMPTY.has(at.message) || at.code === 'ENOENT' || Object.hasOwn(REASONS, String(at.code))) return at;
    const next = at.cause ?? (Array.isArray(at.errors) ? at.errors[0] : undefined);
    if (typeof next !== 'object' || next === null) break;
    at = next;
  }
  return (thrown ?? {}) as Told;
}
