/** Equality and hashes of packets, both by their canonical form. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Packet } from '../ast.js';
import { canonicalizePacket } from '../canonicalize.js';
import { unprintable } from '../errors.js';
import { parsePacket } from '../parse.js';

/**
 * SHA-256 of the canonical form in UTF-8, as 64 hexadecimal digits: the same for all packets that say the same, in whatever
 * order their fields stand, with whatever blanks around them. A text is read with the tolerant dialect, so that everything
 * that the validator lets pass has a hash, `fetch|...` and other words that v1.1 would not write included. Half surrogate
 * pairs, which UTF-8 does not have, count as U+FFFD.
 *
 * @throws ParseError on a text beyond the limits, or no text
 * @throws PrintError on what has no TASK or DOM, a field without a colon, or a separator in a hand-built value
 * @example
 * packetHash('ACK|HR|return:A|p:2') === packetHash('ACK|HR|p:2|return:A') // true
 */
export function packetHash(packet: Packet | string): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalText(packet))));
}

/**
 * Whether two packets say the same: equal canonical forms.
 *
 * @throws ParseError, PrintError as {@link packetHash} does
 */
export function samePacket(a: Packet | string, b: Packet | string): boolean {
  return canonicalText(a) === canonicalText(b);
}

/**
 * The canonical form as text. For packets that can be printed it is what `printPacket` gives.
 *
 * @throws ParseError, PrintError as {@link packetHash} does
 */
export function canonicalText(packet: Packet | string): string {
  const { task, domain, fields } = canonicalizePacket(
    typeof packet === 'string' ? parsePacket(packet, { dialect: 'tolerant' }) : packet,
  );
  checkToken(task, 'task', /\|/);
  checkToken(domain, 'domain', /\|/);
  if (task === '') throw unprintable('task', 'is empty');
  if (domain === '') throw unprintable('domain', 'is empty');
  const texts = fields.map(({ key, value, bare }, index) => {
    const path = `fields[${index}]`;
    if (bare) throw unprintable(path, 'a field without a colon cannot be written');
    checkToken(key, `${path}.key`, /[|:]/);
    checkToken(value, `${path}.value`, /\|/);
    return `${key}:${value}`;
  });
  return [task, domain, ...texts].join('|');
}

/** Two packets with one text would have one hash. */
function checkToken(token: unknown, path: string, separator: RegExp): void {
  if (typeof token !== 'string') throw unprintable(path, 'is no string');
  if (separator.test(token)) throw unprintable(path, 'holds a separator');
}
