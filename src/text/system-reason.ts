/** Why the operating system refuses something, in words. */

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
  ECONNREFUSED: 'nobody listens there',
};

/**
 * Words an error of the operating system, as Node throws it, without its code, its call and its path.
 *
 * @param missing what is not there where the error is that something is not
 * @returns part of a sentence, without a full stop; of any other error, its message
 * @example
 * systemReason(Object.assign(new Error("ENOENT: no such file or directory, open 'x'"), { code: 'ENOENT' })); // 'there is no such file'
 */
export function systemReason(thrown: unknown, missing = 'there is no such file'): string {
  const { code, message } = (thrown ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const text = String(message ?? thrown);
  if (typeof code !== 'string') return text;
  if (code === 'ENOENT') return missing;
  if (Object.hasOwn(REASONS, code)) return REASONS[code]!;
  // "ETXTBSY: text file is busy, open 'x'", as Node composes it.
  return text.startsWith(`${code}: `) ? text.slice(code.length + 2).replace(/, [a-z_]+(?: '.*)?$/s, '') : text;
}
