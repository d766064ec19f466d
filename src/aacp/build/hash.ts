import { PrintError } from '../../text/errors.js';

import { sha256Hex } from '../../text/sha256.js';
import type { Field, Packet } from '../ast.js';
import { unprintable } from '../errors.js';
import { parsePacket } from '../parse.js';
import { canonicalizePacket } from '../print.js';
import { EncodeError } from './values.js';

/**
 * Returns the SHA-256 of the canonical form in UTF-8, as 64 hexadecimal digits: the same in any order of the fields and
 * with any blanks around them. Texts are read with the tolerant dialect, so everything that the validator accepts has a
 * hash. Half surrogate pairs count as U+FFFD.
 *
 * @throws ParseError on a text beyond the limits, or if it is not a string
 * @throws EncodeError with code `unprintable` on a tree that is not a packet, or cannot be written unambiguously
 * @example
 * packetHash('ACK|HR|return:A|p:2') === packetHash('ACK|HR|p:2|return:A') // true
 */
export function packetHash(packet: Packet | string): string {
  return sha256Hex(canonicalText(packet));
}

/** Compares two packets by their canonical forms. @throws ParseError, EncodeError as {@link packetHash} does */
export function samePacket(a: Packet | string, b: Packet | string): boolean {
  return canonicalText(a) === canonicalText(b);
}

/** Returns the canonical form as text; for packets that can be printed, what `printPacket` returns. */
export function canonicalText(packet: Packet | string): string {
  const tree = typeof packet === 'string' ? parsePacket(packet, { dialect: 'tolerant' }) : packet;
  return asEncodeError(tree, () => textOf(tree));
}

function textOf(packet: Packet): string {
  if (packet?.kind !== 'packet') throw unprintable('packet', 'is no packet');
  const { task, domain, fields } = canonicalizePacket(packet);
  checkToken(task, 'task', /\|/);
  checkToken(domain, 'domain', /\|/);
  if (task === '') throw unprintable('task', 'is empty');
  if (domain === '') throw unprintable('domain', 'is empty');
  let text = `${task}|${domain}`;
  for (const field of fields) {
    // Report the place in the given packet, not in the canonical one.
    if (faultOf(field) !== null) throw faultIn(packet.fields);
    text += `|${field.key}:${field.value}`;
  }
  return text;
}

/** Rejects separators in tokens, which would let two packets share a hash. */
function checkToken(token: unknown, path: string, separator: RegExp): void {
  const fault = faultOfToken(token, separator);
  if (fault !== null) throw unprintable(path, fault);
}

function faultOfToken(token: unknown, separator: RegExp): string | null {
  if (typeof token !== 'string') return 'is no string';
  return separator.test(token) ? 'holds a separator' : null;
}

function faultOf({ key, value, bare }: Field): readonly [part: string, message: string] | null {
  if (bare) return ['', 'a field without a colon cannot be written'];
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
  // A getter returned something else the first time.
  return unprintable('fields', 'are not the same whenever they are read');
}

/** Converts a PrintError to an EncodeError, which names the field by its key. */
export function asEncodeError<T>(packet: Packet | string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof PrintError)) throw cause;
    // The path stands in front of the message of either error.
    const message = cause.message.slice(cause.path.length + 2);
    const path = keyAt(packet, cause.path);
    throw new EncodeError({ code: 'unprintable', path, message, help: cause.help }, { cause });
  }
}

function keyAt(packet: Packet | string, path: string): string {
  const index = /^fields\[(\d+)\]\.value$/.exec(path)?.[1];
  return index === undefined || typeof packet === 'string' ? path : (packet.fields[Number(index)]?.key ?? path);
}
