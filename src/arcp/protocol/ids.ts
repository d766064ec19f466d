/** Identifiers (spec 003, "Canonical Envelope": "Globally unique message id; also used as the retry idempotency key"). */
import { monotonicFactory } from 'ulid';

/** Identifiers consist of characters that logs, files and databases preserve. */
export const ID = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

/** Returns whether a value is an identifier; with a fast path for ASCII. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && (/^[ -~]{1,256}$/.test(value) || ID.test(value));
}

/** The prefix of an identifier: `msg_01JABC...`. */
export type IdKind = 'msg' | 'sess' | 'job' | 'str' | 'chk' | 'lease' | 'perm' | 'ctx';

/** A pool of random bytes, since one system call per identifier is slow. */
const pool = new Uint8Array(4096);
let used = pool.length;

function fresh(bytes: number): number {
  if (used + bytes > pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  used += bytes;
  return used - bytes;
}

const nextUlid = monotonicFactory(() => pool[fresh(1)]! / 256);

/** Creates an identifier from 48 bits of time and 80 random bits. Receivers must treat it as opaque. */
export function newId(kind: IdKind): string {
  return `${kind}_${nextUlid()}`;
}

const HEX = '0123456789abcdef';

/** Creates a trace id (OpenTelemetry, W3C Trace Context): 16 random bytes in hexadecimal, not all zero. */
export function newTraceId(): string {
  return randomHex(16);
}

/** Creates a span id: 8 random bytes in hexadecimal. */
export function newSpanId(): string {
  return randomHex(8);
}

function randomHex(bytes: number): string {
  const from = fresh(bytes);
  let text = '';
  let sum = 0;
  for (const byte of pool.subarray(from, from + bytes)) {
    sum += byte;
    text += HEX[byte >> 4]! + HEX[byte & 15]!;
  }
  return sum === 0 ? randomHex(bytes) : text;
}

const RFC_3339 =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(?:\.\d{1,18})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Returns whether a text is a date and time with offset (RFC 3339, section 5.6). Leap seconds are valid. */
export function isTimestamp(text: string): boolean {
  const match = RFC_3339.exec(text);
  if (match === null) return false;
  const day = Number(match[3]);
  return day <= 28 || day <= daysOf(Number(match[1]), Number(match[2]));
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Returns the time of a valid timestamp in milliseconds since 1970. A leap second equals the following second. */
export function parseTimestamp(timestamp: string): number {
  const plain = timestamp.toUpperCase();
  const leap = plain.slice(17, 19) === '60';
  return Date.parse(leap ? `${plain.slice(0, 17)}59${plain.slice(19)}` : plain) + (leap ? 1000 : 0);
}

let lastMoment = 0;
let lastText = '1970-01-01T00:00:00.000Z';

/** Returns the timestamp of a time. @param moment milliseconds since 1970 @throws RangeError if it is not a valid time */
export function formatTimestamp(moment: number): string {
  if (moment !== lastMoment) {
    lastText = new Date(moment).toISOString();
    lastMoment = moment;
  }
  return lastText;
}
