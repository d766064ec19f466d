/** Identifiers (spec 003, "Canonical Envelope": "Globally unique message id; also used as the retry idempotency key"). */
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

/** Reserves random bytes. @returns the position of the first one in the pool */
function fresh(bytes: number): number {
  if (used + bytes > pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  used += bytes;
  return used - bytes;
}

/** The digits of base 32 in identifiers: no I, L, O and U, which are easily misread. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** All pairs of digits, by their value of 10 bits. */
const PAIRS = Array.from({ length: 1024 }, (_, value) => DIGITS[value >> 5]! + DIGITS[value & 31]!);

/** Returns eight digits. @param value 40 bits */
function digitsOf(value: number): string {
  const [high, low] = [Math.floor(value / 2 ** 20), value % 2 ** 20];
  return PAIRS[high >> 10]! + PAIRS[high & 1023]! + PAIRS[low >> 10]! + PAIRS[low & 1023]!;
}

function random40(): number {
  const at = fresh(5);
  return pool.subarray(at, at + 5).reduce((value, byte) => value * 256 + byte, 0);
}

let lastTime = 0;
/** The digits of the time and of the first half of the random bits. */
let prefix = '';
let counter = 0;

/**
 * Creates an identifier from 48 bits of time and 80 random bits, as ULIDs have. Those of one process ascend, so that indexes of them grow at their
 * end: within a millisecond, the last one is counted up. Receivers must treat it as opaque.
 */
export function newId(kind: IdKind): string {
  const time = Date.now();
  if (time > lastTime || prefix === '' || counter === 2 ** 40) {
    lastTime = Math.max(time, lastTime);
    prefix = PAIRS[Math.floor(lastTime / 2 ** 40)]! + digitsOf(lastTime % 2 ** 40) + digitsOf(random40());
    counter = random40();
  }
  return `${kind}_${prefix}${digitsOf(counter++)}`;
}

/** Creates a trace id (OpenTelemetry, W3C Trace Context): 16 random bytes in hexadecimal, not all zero. */
export function newTraceId(): string {
  return randomHex(16);
}

/** Creates a span id: 8 random bytes in hexadecimal. */
export function newSpanId(): string {
  return randomHex(8);
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function randomHex(bytes: number): string {
  const from = fresh(bytes);
  let text = '';
  let sum = 0;
  for (let at = from; at < from + bytes; at++) {
    sum += pool[at]!;
    text += HEX[pool[at]!]!;
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
