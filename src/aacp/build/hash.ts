import { PrintError } from '../../text/errors.js';

import { sha256Hex } from '../../text/sha256.js';
import type { Field, Packet } from '../ast.js';
import { unprintable } from '../errors.js';
import { parsePacket } from '../parse.js';
import { canonicalizePacket } from '../print.js';
import { EncodeError } from './values.js';

/**
 * Returns the SHA-256 of the canonical form in UTF-8, as 64 hexadecimal digits. The order of the fields and blanks around tokens do not
 * affect it. Texts are read with the tolerant dialect, so everything that the validator accepts has a hash. A lone surrogate counts as
 * U+FFFD.
 *
 * @throws ParseError if a text exceeds a limit
 * @throws EncodeError with code `unprintable` if a text has no TASK or DOM, or if a tree is not a packet or cannot be written unambiguously
 * @example
 * packetHash('ACK|HR|return:A|p:2') === packetHash('ACK|HR|p:2|return:A') // true
 */
export function packetHash(packet: Packet | string): string {
  return sha256Hex(canonicalText(packet));
}

/** Returns `true` if two packets have the same canonical form. @throws ParseError, EncodeError under the conditions of {@link packetHash} */
export function samePacket(a: Packet | string, b: Packet | string): boolean {
  return canonicalText(a) === canonicalText(b);
}

/** Returns the canonical form as text. For packets that can be printed, this is the result of `printPacket`. */
export function canonicalText(packet: Packet | string): string {
  const tree = typeof packet === 'string' ? parsePacket(packet, { dialect: 'tolerant' }) : packet;
  return asEncodeError(tree, () => textOf(tree));
}

function textOf(packet: Packet): string {
  if (packet?.kind !== 'packet') throw unprintable('packet', 'is not a packet');
  const { task, domain, fields } = canonicalizePacket(packet);
  checkToken(task, 'task', /\|/);
  checkToken(domain, 'domain', /\|/);
  if (task === '') throw unprintable('task', 'is empty');
  if (domain === '') throw unprintable('domain', 'is empty');
  let text = `${task}|${domain}`;
  for (const field of fields) {
    // Reports the position in the given packet, not in the canonical one.
    if (faultOf(field) !== null) throw faultIn(packet.fields);
    text += `|${field.key}:${field.value}`;
  }
  return text;
}

/** Rejects tokens that contain separators, since two packets could then have the same hash. */
function checkToken(token: unknown, path: string, separator: RegExp): void {
  const fault = faultOfToken(token, separator);
  if (fault !== null) throw unprintable(path, fault);
}

function faultOfToken(token: unknown, separator: RegExp): string | null {
  if (typeof token !== 'string') return 'is not a string';
  return separator.test(token) ? 'contains a separator' : null;
}

function faultOf({ key, value, bare }: Field): readonly [part: string, message: string] | null {
  if (bare) return ['', 'has no colon, which v1.1 does not allow'];
  const ofKey = faultOfToken(key, /[|:]/);
  if (ofKey !== null) return ['.key', ofKey];
  const ofValue = faultOfToken(value, /\|/);
  return ofValue === null ? null : ['.value', ofValue];
}

function faultIn(fields: readonly Field[]): PrintError {
  for (const [index, field] of fields.entries()) {
    const fault = faultOf(field);
    if (fault !== null) return unprintable(`fields[${index}]${fault[0]}`, fault[1]);
  }
  // A getter returned another value the first time.
  return unprintable('fields', 'change their values between two reads');
}

/** Converts a PrintError to an EncodeError whose path is the key of the field. */
export function asEncodeError<T>(packet: Packet | string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof PrintError)) throw cause;
    // The message of either error begins with its path.
    const message = cause.message.slice(cause.path.length + 2);
    const path = keyAt(packet, cause.path);
    throw new EncodeError({ code: 'unprintable', path, message, help: cause.help }, { cause });
  }
}

function keyAt(packet: Packet | string, path: string): string {
  const index = /^fields\[(\d+)\]\.value$/.exec(path)?.[1];
  return index === undefined || typeof packet === 'string' ? path : (packet.fields[Number(index)]?.key ?? path);
}
