const REASONS: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of the path is not a folder',
  ELOOP: 'the symbolic links in the path form a loop',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  EADDRINUSE: 'the address is already in use',
  EADDRNOTAVAIL: 'this machine does not have that address',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the other side closed the connection',
  EPIPE: 'the other side closed the connection',
  UND_ERR_SOCKET: 'the other side closed the connection',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  ENOTFOUND: 'the host was not found',
  EAI_AGAIN: 'the host name cannot be resolved at the moment',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
};

/** Messages of `fetch` and of libraries without information; that is in the cause. */
const EMPTY: ReadonlySet<unknown> = new Set(['', 'fetch failed', 'terminated', 'Connection error.', undefined]);
/** Codes of errors whose message only repeats the cause. */
const WRAPPERS: ReadonlySet<unknown> = new Set(['ERR_HTTP2_STREAM_CANCEL']);
const MAX_DEPTH = 8;

interface ErrorLike {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/**
 * Describes an error of the operating system or network, without its code, system call and path. Searches causes and aggregated errors.
 *
 * @param missing the description of ENOENT
 * @returns a clause, without a capital letter and full stop
 */
export function systemReason(thrown: unknown, missing = 'there is no such file'): string {
  const { code, message } = informativeCause(thrown);
  const text = String(message ?? thrown);
  if (typeof code !== 'string') return text;
  if (code === 'ENOENT') return missing;
  if (Object.hasOwn(REASONS, code)) return REASONS[code]!;
  // "ETXTBSY: text file is busy, open 'x'", as Node composes it.
  return text.startsWith(`${code}: `) ? text.slice(code.length + 2).replace(/, [a-z_]+(?: '.*)?$/s, '') : text;
}

/** Returns the first of an error and its causes that has a message of its own. */
function informativeCause(thrown: unknown): ErrorLike {
  let at = (thrown ?? {}) as ErrorLike;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const next = at.cause ?? (Array.isArray(at.errors) ? at.errors[0] : undefined);
    const hasNext = typeof next === 'object' && next !== null;
    const isEmpty = EMPTY.has(at.message) || (hasNext && WRAPPERS.has(at.code));
    if (!isEmpty || at.code === 'ENOENT' || Object.hasOwn(REASONS, String(at.code))) return at;
    if (!hasNext) break;
    at = next;
  }
  return (thrown ?? {}) as ErrorLike;
}
