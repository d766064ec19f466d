/** Passwords and the like: behind a key that says so, and in addresses. */
import type { Detector, Sensitive } from './detector.js';

const SECRET_NAMES =
  'password|passwd|pwd|passphrase|passcode|secret|api[_-]?key|secret[_-]?key|access[_-]?key|private[_-]?key|' +
  'access[_-]?token|auth[_-]?token|refresh[_-]?token|client[_-]?secret';
/** The name of the field itself: `password`, `org_api_key`. */
const SECRET_KEY = new RegExp(`(?:^|_)(?:${SECRET_NAMES})$`);
/** `password=...` inside a value, up to a separator of any kind. */
const ASSIGNMENT = new RegExp(
  `(?<![A-Za-z0-9])(?:[A-Za-z0-9]{1,20}[_-])?(?:${SECRET_NAMES}) ?[=:] ?([^\\s,;&|]+)`,
  'gi',
);

/** Words that say something about a secret, and are none. */
const ABOUT =
  /^(?:true|false|yes|no|none|null|n\/a|set|unset|reset(?:_?[a-z]+)*|changed?|expired?|expiring|valid|invalid|active|inactive|enabled|disabled|missing|present|required|optional|rotated?|revoked?|weak|strong|unknown|any|all|pending|ok|policy[a-z0-9_]*|\*+|x+)$/i;
/** What stands for a secret that is somewhere else: a place, a variable, a blank to fill in. */
const POINTER = /^(?:[A-Za-z][A-Za-z0-9+.-]{0,19}:\/\/|[$<{[%(])/;

export const findPasswords: Detector = (value, key) => [
  ...(SECRET_KEY.test(key) && isSecret(value) ? [{ kind: 'a password or key', start: 0, end: value.length }] : []),
  ...assigned(value),
  ...inAddresses(value),
];

function assigned(value: string): readonly Sensitive[] {
  const found: Sensitive[] = [];
  for (const match of value.matchAll(ASSIGNMENT)) {
    const secret = match[1]!;
    const end = match.index + match[0].length;
    if (isSecret(secret)) found.push({ kind: 'a password or key', start: end - secret.length, end });
  }
  return found;
}

function isSecret(text: string): boolean {
  return text !== '' && !ABOUT.test(text) && !POINTER.test(text);
}

/** `scheme://user:password@host`. The lengths are limited, so that many beginnings cost no more than their number. */
function inAddresses(value: string): readonly Sensitive[] {
  const found: Sensitive[] = [];
  const user = /[^\s/:@,]{0,64}:([^\s/@,]{1,128})@/y;
  for (let at = value.indexOf('://'); at >= 0; at = value.indexOf('://', at + 3)) {
    user.lastIndex = at + 3;
    const password = user.exec(value)?.[1];
    if (password === undefined || !isSecret(password)) continue;
    const end = user.lastIndex - 1;
    found.push({ kind: 'a password in an address', start: end - password.length, end });
  }
  return found;
}
