/** Numbers of cards, accounts and people, which have forms and check sums. */

import { type Detector, matches, type Sensitive } from './detector.js';
import { IBAN_LENGTHS } from './iban-lengths.js';

export const findNumbers: Detector = (value) => [...cards(value), ...ibans(value), ...personalNumbers(value)];

/** Groups of digits with at most one blank or hyphen between them. */
const DIGITS = /(?<![A-Za-z0-9.])[0-9]+(?:[ -][0-9]+)*(?![A-Za-z0-9])/g;
/** The first digits and the lengths of the card schemes that are in use. */
const SCHEMES: readonly (readonly [prefix: RegExp, lengths: readonly number[]])[] = [
  [/^4/, [13, 16, 19]],
  [/^(?:5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720))/, [16]],
  [/^3[47]/, [15]],
  [/^3(?:0[0-5]|[689])/, [14]],
  [/^(?:6011|64[4-9]|65|62|35(?:2[89]|[3-8]))/, [16, 17, 18, 19]],
];
const SHORTEST_CARD = 13;
const LONGEST_CARD = 19;

/** Each stretch of digits is a card number as a whole, or some neighbouring groups of it are. */
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

/** The check sum of card numbers (ISO/IEC 7812-1, annex B). */
function luhn(number: string): boolean {
  let sum = 0;
  for (let at = 0; at < number.length; at++) {
    const digit = Number(number[number.length - 1 - at]);
    const doubled = at % 2 === 0 ? digit : 2 * digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Account numbers of ISO 13616: a country, two check digits, and the length that the country has. */
function ibans(value: string): readonly Sensitive[] {
  const found: Sensitive[] = [];
  for (const { index } of value.matchAll(/(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}/g)) {
    const length = IBAN_LENGTHS.get(value.slice(index, index + 2).toUpperCase());
    if (length === undefined) continue;
    // With one blank or hyphen after every group of four at most.
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

/** The check sum of ISO 7064, MOD 97-10, with letters counting from 10 on. */
function mod97(number: string): boolean {
  let rest = 0;
  for (const character of number.slice(4) + number.slice(0, 4)) {
    const digit = Number.parseInt(character, 36);
    rest = (rest * (digit > 9 ? 100 : 10) + digit) % 97;
  }
  return rest === 1;
}

/** In the forms in which people write them; without blanks or hyphens, a US number is nine digits like any. */
function personalNumbers(value: string): readonly Sensitive[] {
  return [
    ...matches(
      value,
      /(?<![A-Za-z0-9])(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D](?![A-Za-z0-9])/g,
      'a national insurance number',
    ),
    ...matches(
      value,
      /(?<![A-Za-z0-9-])(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![A-Za-z0-9-])/g,
      'a social security number',
    ),
  ];
}
