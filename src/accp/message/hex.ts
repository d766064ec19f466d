/** Runs of characters as hexadecimal digits of their UTF-16 code units, so that lone surrogates come back, too. */

const HEX = /^[0-9A-Fa-f]+$/;

/** One unit without leading zeros (`e9`); of several, four digits each. */
export function toHex(run: string): string {
  if (run.length === 1) return run.charCodeAt(0).toString(16);
  let digits = '';
  for (let at = 0; at < run.length; at++) digits += run.charCodeAt(at).toString(16).padStart(4, '0');
  return digits;
}

/** What {@link toHex} was given; `null` for what it never gives. */
export function fromHex(digits: string): string | null {
  if (!HEX.test(digits)) return null;
  if (digits.length < 4) return String.fromCharCode(Number.parseInt(digits, 16));
  if (digits.length % 4 !== 0) return null;
  let run = '';
  for (let at = 0; at < digits.length; at += 4) {
    run += String.fromCharCode(Number.parseInt(digits.slice(at, at + 4), 16));
  }
  return run;
}
