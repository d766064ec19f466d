/** Detects sensitive values by their form (draft-mackay-aacp-01, section 15). */

interface Sensitive {
  /** The kind with its article: `an e-mail address`. */
  readonly kind: string;
  /** The range in UTF-16 offsets of the value. */
  readonly start: number;
  readonly end: number;
}

/** A kind of sensitive value and its pattern. The first group of a match, or the whole match, is sensitive if `isSensitive` accepts it. */
type Shape = readonly [kind: string, pattern: RegExp, isSensitive?: (text: string) => boolean];

function matches(value: string, [kind, pattern, isSensitive]: Shape): readonly Sensitive[] {
  const found: Sensitive[] = [];
  for (const match of value.matchAll(pattern)) {
    // A group ends at the end of its match.
    const text = match[1] ?? match[0];
    const end = match.index + match[0].length;
    if (isSensitive?.(text) !== false) found.push({ kind, start: end - text.length, end });
  }
  return found;
}

/** Keys whose values are signed numbers, not phone numbers. */
const AMOUNTS: ReadonlySet<string> = new Set(['amt', 'ltv', 'prog']);

/** The maximum length of the local part of an address (RFC 5321, section 4.5.3.1; RFC 1035, section 2.3.4). */
const LOCAL = 64;

/** Searches both sides of each "@", within the maximum length of an address. */
function emailAddresses(value: string): readonly Sensitive[] {
  const found: Sensitive[] = [];
  const domain = /(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})\.){1,8}\p{L}{2,24}(?![\p{L}\p{N}])/uy;
  for (let at = value.indexOf('@'); at >= 0; at = value.indexOf('@', at + 1)) {
    const local = /[\p{L}\p{N}._%+'-]+$/u.exec(value.slice(Math.max(0, at - LOCAL), at));
    // `git@` is a shared account.
    if (local === null || local[0] === 'git') continue;
    domain.lastIndex = at + 1;
    if (domain.test(value))
      found.push({ kind: 'an e-mail address', start: at - local[0].length, end: domain.lastIndex });
  }
  return found;
}

/** Phone numbers: only with a plus sign and 10 to 15 digits (E.164), with an area code in brackets, or after a name such as `phone=`. */
const PHONES: readonly Shape[] = [
  /(?<![\p{L}\p{N}+.,-])\+[1-9](?:[ ().-]{0,2}[0-9]){9,14}(?![\p{L}\p{N}])/gu,
  /(?<![\p{L}\p{N}])\([2-9][0-9]{2}\) ?[0-9]{3}[ -][0-9]{4}(?![\p{L}\p{N}])/gu,
  /(?<![A-Za-z])(?:phone|telephone|tel|mobile|cell|msisdn|fax)(?:_?(?:no|number))?[=:] ?(\+?[0-9](?:[ ().-]{0,2}[0-9]){6,14})(?![0-9])/gi,
].map((pattern) => ['a phone number', pattern]);

/** The lengths of account numbers by country (IBAN registry of SWIFT). */
const TABLE =
  'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 ' +
  'FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 ' +
  'LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 ' +
  'RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30';

const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  TABLE.split(' ').map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** Groups of digits, separated by at most one blank or hyphen. */
const DIGITS = /(?<![A-Za-z0-9.])[0-9]+(?:[ -][0-9]+)*(?![A-Za-z0-9])/g;
/** The first digits and the lengths of the card schemes in use. */
const SCHEMES: readonly (readonly [prefix: RegExp, lengths: readonly number[]])[] = [
  [/^4/, [13, 16, 19]],
  [/^(?:5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720))/, [16]],
  [/^3[47]/, [15]],
  [/^3(?:0[0-5]|[689])/, [14]],
  [/^(?:6011|64[4-9]|65|62|35(?:2[89]|[3-8]))/, [16, 17, 18, 19]],
];
const SHORTEST_CARD = 13;
const LONGEST_CARD = 19;

/** Finds card numbers, which are a whole sequence of digits, or adjacent groups of it. */
function cards(value: string): readonly Sensitive[] {
  const found: Sensitive[] = [];
  for (const run of value.matchAll(DIGITS)) {
    const groups = Array.from(run[0].matchAll(/[0-9]+/g), (group) => ({
      digits: group[0],
      start: run.index + group.index,
    }));
    for (let first = 0; first < groups.length; first++) {
      const last = lastGroupOfCard(groups, first);
      if (last === null) continue;
      const { start, digits } = groups[last]!;
      found.push({ kind: 'a payment card number', start: groups[first]!.start, end: start + digits.length });
      first = last;
    }
  }
  return found;
}

function lastGroupOfCard(groups: readonly { readonly digits: string }[], first: number): number | null {
  if (!/^[2-6]/.test(groups[first]!.digits)) return null;
  let number = '';
  for (let last = first; last < groups.length && number.length < LONGEST_CARD; last++) {
    const { digits } = groups[last]!;
    if (digits.length > LONGEST_CARD) return null;
    number += digits;
    if (number.length >= SHORTEST_CARD && isCard(number)) return last;
  }
  return null;
}

function isCard(number: string): boolean {
  return SCHEMES.some(([prefix, lengths]) => lengths.includes(number.length) && prefix.test(number)) && luhn(number);
}

/** Checks the checksum of card numbers (ISO/IEC 7812-1, annex B). */
function luhn(number: string): boolean {
  let sum = 0;
  for (let at = 0; at < number.length; at++) {
    const digit = Number(number[number.length - 1 - at]);
    const doubled = at % 2 === 0 ? digit : 2 * digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Finds account numbers of ISO 13616: a country, two check digits, and the length of the country. */
function ibans(value: string): readonly Sensitive[] {
  const found: Sensitive[] = [];
  for (const { index } of value.matchAll(/(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}/g)) {
    const length = IBAN_LENGTHS.get(value.slice(index, index + 2).toUpperCase());
    if (length === undefined) continue;
    // A blank or hyphen may follow each group of four.
    const text = value.slice(index, index + 2 * length);
    let number = '';
    let end = 0;
    while (end < text.length && number.length < length) {
      const character = text[end]!;
      if (/[A-Za-z0-9]/.test(character)) number += character;
      else if (!/[ -]/.test(character) || !/[A-Za-z0-9]/.test(text[end + 1] ?? '')) break;
      end++;
    }
    if (number.length < length || /[A-Za-z0-9]/.test(value[index + end] ?? '') || !mod97(number)) continue;
    found.push({ kind: 'a bank account number (IBAN)', start: index, end: index + end });
  }
  return found;
}

/** Checks the checksum of ISO 7064, MOD 97-10, in which letters count from 10. */
function mod97(number: string): boolean {
  let rest = 0;
  for (const character of number.slice(4) + number.slice(0, 4)) {
    const digit = Number.parseInt(character, 36);
    rest = (rest * (digit > 9 ? 100 : 10) + digit) % 97;
  }
  return rest === 1;
}

/** Personal numbers in the usual spelling only: without hyphens, a US number is any nine digits. */
const PERSONAL_NUMBERS: readonly Shape[] = [
  [
    'a national insurance number',
    /(?<![A-Za-z0-9])(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D](?![A-Za-z0-9])/g,
  ],
  [
    'a social security number',
    /(?<![A-Za-z0-9-])(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![A-Za-z0-9-])/g,
  ],
];

const SECRET_NAMES =
  'password|passwd|pwd|passphrase|passcode|secret|api[_-]?key|secret[_-]?key|access[_-]?key|private[_-]?key|' +
  'access[_-]?token|auth[_-]?token|refresh[_-]?token|client[_-]?secret';
/** Names of fields: `password`, `org_api_key`. */
const SECRET_KEY = new RegExp(`(?:^|_)(?:${SECRET_NAMES})$`);
/** An assignment inside a value: `password=...`. */
const ASSIGNMENT = new RegExp(
  `(?<![A-Za-z0-9])(?:[A-Za-z0-9]{1,20}[_-])?(?:${SECRET_NAMES}) ?[=:] ?([^\\s,;&|]+)`,
  'gi',
);

/** Words about a secret that are not secrets themselves. */
const ABOUT =
  /^(?:true|false|yes|no|none|null|n\/a|set|unset|reset(?:_?[a-z]+)*|changed?|expired?|expiring|valid|invalid|active|inactive|enabled|disabled|missing|present|required|optional|rotated?|revoked?|weak|strong|unknown|any|all|pending|ok|policy[a-z0-9_]*|\*+|x+)$/i;
/** References to a secret: a URL, a variable, a placeholder. */
const POINTER = /^(?:[A-Za-z][A-Za-z0-9+.-]{0,19}:\/\/|[$<{[%(])/;

function isSecret(text: string): boolean {
  return text !== '' && !ABOUT.test(text) && !POINTER.test(text);
}

const PASSWORDS: readonly Shape[] = [
  ['a password or key', ASSIGNMENT, isSecret],
  // `scheme://user:password@host`. Lengths are limited, so that many candidates take linear time.
  ['a password in an address', /:\/\/[^\s/:@,]{0,64}:([^\s/@,]{1,128})(?=@)/g, isSecret],
];

/** Patterns of tokens. Each begins at a word boundary with a distinctive prefix, so it is tried in few places and scans once. */
const TOKENS: readonly Shape[] = [
  ['an AWS access key', /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])/g],
  ['a GitHub token', /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{36,255}/g],
  ['a GitHub token', /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{22,255}/g],
  ['a GitLab token', /(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{20,255}/g],
  ['a Slack token', /(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,255}/g],
  ['a Slack token', /(?<![A-Za-z0-9])xapp-[0-9]-[A-Za-z0-9-]{10,255}/g],
  ['a Slack webhook', /hooks\.slack\.com\/services\/[A-Za-z0-9/]{20,255}/g],
  ['a Google API key', /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g],
  ['a Google token', /(?<![A-Za-z0-9])(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,512}/g],
  ['a Stripe key', /(?<![A-Za-z0-9])(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,255}/g],
  ['an npm token', /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g],
  ['a Hugging Face token', /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])/g],
  ['a SendGrid key', /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/g],
  ['a JSON Web Token', /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*/g],
  ['a private key', /-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY/g],
  // Forms shared with ordinary words: a part must look random.
  ['a secret key', /(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{20,255}/g, looksRandom],
  ['a bearer token', /(?<![A-Za-z0-9])[Bb]earer[ :=_]{1,3}[A-Za-z0-9._~+/-]{16,512}/g, looksRandom],
];

/** Returns whether 16 consecutive letters and digits include both. */
function looksRandom(text: string): boolean {
  const stretches = text.match(/[A-Za-z0-9]{16,}/g) ?? [];
  return stretches.some((stretch) => /[0-9]/.test(stretch) && /[A-Za-z]/.test(stretch));
}

/**
 * Finds parts of a value that look like personal data, financial records or credentials, in order, without overlap, in linear time. `key` is
 * in lower case, and empty for a field without a key.
 */
export function findSensitive(value: string, key: string): readonly Sensitive[] {
  const whole = { kind: 'a password or key', start: 0, end: value.length };
  // Of findings with the same start, the most specific one comes first and is used.
  const found = [
    ...TOKENS.flatMap((shape) => matches(value, shape)),
    ...(SECRET_KEY.test(key) && isSecret(value) ? [whole] : []),
    ...PASSWORDS.flatMap((shape) => matches(value, shape)),
    ...emailAddresses(value),
    ...(AMOUNTS.has(key) ? [] : PHONES.flatMap((shape) => matches(value, shape))),
    ...cards(value),
    ...ibans(value),
    ...PERSONAL_NUMBERS.flatMap((shape) => matches(value, shape)),
  ].sort((a, b) => a.start - b.start);
  const parts: Sensitive[] = [];
  for (const part of found) if (part.start >= (parts.at(-1)?.end ?? 0)) parts.push(part);
  return parts;
}
