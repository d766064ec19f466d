/** Takes keys and passwords out of what is told to people. */

/** Keys in the usual forms: `sk-...`, `Bearer ...`. */
const KEYS = /\b(?:sk|gsk|xai|nvapi)-[\w-]{6,}|\bBearer\s+\S+/gi;

/** User and password in a URL. */
const CREDENTIALS = /\/\/[^\s/@]*@/g;

/** `text` without the secrets, and without what looks like a key. */
export function redacted(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) if (secret !== '') shown = shown.replaceAll(secret, '[key]');
  return shown.replace(KEYS, '[key]').replace(CREDENTIALS, '//');
}
