/** SHA-256 at once, in browsers too: their own digest is asynchronous. */

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, section 4.2.2). */
const K = Int32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)));

/** The same of their square roots, of the first 8 (section 5.3.3). */
const INITIAL = Uint32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime)));

const BLOCK = 64;
const schedule = new Int32Array(64);

/**
 * Computes the SHA-256 of bytes, or of a text in UTF-8, as 64 lower-case hexadecimal digits.
 *
 * Source: FIPS 180-4.
 */
export function sha256Hex(data: string | Uint8Array): string {
  const bytes = typeof data === 'string' ? utf8(data) : data;
  const state = INITIAL.slice();
  const whole = bytes.length - (bytes.length % BLOCK);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < whole; at += BLOCK) compress(state, view, at);
  const rest = bytes.subarray(whole);
  // A one bit, zeros, and the length in bits.
  const last = new Uint8Array(rest.length + 9 > BLOCK ? 2 * BLOCK : BLOCK);
  last.set(rest);
  last[rest.length] = 0x80;
  const end = new DataView(last.buffer);
  end.setUint32(last.length - 8, Math.floor(bytes.length / 2 ** 29));
  end.setUint32(last.length - 4, bytes.length << 3);
  for (let at = 0; at < last.length; at += BLOCK) compress(state, end, at);
  let digits = '';
  for (let at = 0; at < 8; at++) digits += state[at]!.toString(16).padStart(8, '0');
  return digits;
}

/** As TextEncoder, which is not everywhere that the core runs: a lone surrogate is U+FFFD. */
function utf8(text: string): Uint8Array {
  const bytes = new Uint8Array(3 * text.length);
  let used = 0;
  for (let at = 0; at < text.length; at++) {
    let code = text.charCodeAt(at);
    if (code < 0x80) {
      bytes[used++] = code;
      continue;
    }
    if (code >= 0xd800 && code < 0xe000) {
      const whole = text.codePointAt(at)!;
      if (whole > 0xffff) at++;
      code = whole > 0xffff ? whole : 0xfffd;
    }
    if (code > 0xffff) {
      bytes[used++] = 0xf0 | (code >> 18);
      bytes[used++] = 0x80 | ((code >> 12) & 0x3f);
    } else if (code > 0x7ff) {
      bytes[used++] = 0xe0 | (code >> 12);
    }
    bytes[used++] = code > 0x7ff ? 0x80 | ((code >> 6) & 0x3f) : 0xc0 | (code >> 6);
    bytes[used++] = 0x80 | (code & 0x3f);
  }
  return bytes.subarray(0, used);
}

/** Section 6.2.2. */
function compress(state: Uint32Array, view: DataView, from: number): void {
  const w = schedule;
  for (let t = 0; t < 16; t++) w[t] = view.getUint32(from + 4 * t);
  for (let t = 16; t < 64; t++) {
    const early = w[t - 15]!;
    const late = w[t - 2]!;
    const sigma0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const sigma1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    w[t] = (w[t - 16]! + sigma0 + w[t - 7]! + sigma1) | 0;
  }
  let a = state[0]! | 0;
  let b = state[1]! | 0;
  let c = state[2]! | 0;
  let d = state[3]! | 0;
  let e = state[4]! | 0;
  let f = state[5]! | 0;
  let g = state[6]! | 0;
  let h = state[7]! | 0;
  for (let t = 0; t < 64; t++) {
    const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + sum1 + choice + K[t]! + w[t]!) | 0;
    const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + sum0 + majority) | 0;
  }
  state[0] = state[0]! + a;
  state[1] = state[1]! + b;
  state[2] = state[2]! + c;
  state[3] = state[3]! + d;
  state[4] = state[4]! + e;
  state[5] = state[5]! + f;
  state[6] = state[6]! + g;
  state[7] = state[7]! + h;
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function fraction(value: number): number {
  return Math.floor((value - Math.floor(value)) * 2 ** 32);
}

function primes(count: number): number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate++) {
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate);
  }
  return found;
}
