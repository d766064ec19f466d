/** E-mail addresses and phone numbers. */
import { type Detector, matches, type Sensitive } from './detector.js';

/** Keys whose values are numbers with a sign, and no phone numbers. */
const AMOUNTS: ReadonlySet<string> = new Set(['amt', 'ltv', 'prog']);

/** The longest parts of an address (RFC 5321, section 4.5.3.1; RFC 1035, section 2.3.4). */
const LOCAL = 64;

export const findAddresses: Detector = (value, key) => [
  ...emailAddresses(value),
  ...(AMOUNTS.has(key) ? [] : phoneNumbers(value)),
];

/** From each "@" to both sides, no further than addresses reach. */
function emailAddresses(value: string): readonly Sensitive[] {
  const found: Sensitive[] = [];
  const domain = /(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})\.){1,8}\p{L}{2,24}(?![\p{L}\p{N}])/uy;
  for (let at = value.indexOf('@'); at >= 0; at = value.indexOf('@', at + 1)) {
    const local = /[\p{L}\p{N}._%+'-]+$/u.exec(value.slice(Math.max(0, at - LOCAL), at));
    // `git@` is an account that everybody has.
    if (local === null || local[0] === 'git') continue;
    domain.lastIndex = at + 1;
    if (domain.test(value))
      found.push({ kind: 'an e-mail address', start: at - local[0].length, end: domain.lastIndex });
  }
  return found;
}

/**
 * Numbers that are written as phone numbers only: with a plus sign and ten to fifteen digits (E.164), with an area code in
 * brackets, or behind a name such as `phone=`.
 */
function phoneNumbers(value: string): readonly Sensitive[] {
  const international = matches(
    value,
    /(?<![\p{L}\p{N}+.,-])\+[1-9](?:[ ().-]{0,2}[0-9]){9,14}(?![\p{L}\p{N}])/gu,
    PHONE,
  );
  const withAreaCode = matches(
    value,
    /(?<![\p{L}\p{N}])\([2-9][0-9]{2}\) ?[0-9]{3}[ -][0-9]{4}(?![\p{L}\p{N}])/gu,
    PHONE,
  );
  const named: Sensitive[] = [];
  for (const match of value.matchAll(NAMED)) {
    const number = match[1]!;
    const end = match.index + match[0].length;
    named.push({ kind: PHONE, start: end - number.length, end });
  }
  return [...international, ...withAreaCode, ...named];
}

const PHONE = 'a phone number';
const NAMED =
  /(?<![A-Za-z])(?:phone|telephone|tel|mobile|cell|msisdn|fax)(?:_?(?:no|number))?[=:] ?(\+?[0-9](?:[ ().-]{0,2}[0-9]){6,14})(?![0-9])/gi;
