/** The losses of reading a JSON text with `JSON.parse`. */

const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|-?[0-9][0-9.eE+-]*/g;

/**
 * Describes the losses of the value of a JSON text, in sentences: digits that doubles do not have, or members whose keys are repeated.
 *
 * @param text valid JSON
 * @param value the result of `JSON.parse`
 * @returns `null` if there are none
 */
export function jsonLoss(text: string, value: unknown): string | null {
  let keys = 0;
  let rounded: string | undefined;
  for (const [token, colon] of text.matchAll(TOKEN)) {
    if (colon !== undefined) keys++;
    else if (rounded === undefined && token[0] !== '"' && isRounded(token)) rounded = token;
  }
  const losses = [
    rounded === undefined ? '' : `The number ${rounded.slice(0, 60)} is rounded to ${Number(rounded)}.`,
    keys === membersOf(value) ? '' : 'A key is repeated: only its last value is kept.',
  ];
  return losses.filter(Boolean).join(' ') || null;
}

function isRounded(number: string): boolean {
  return spelling(number) !== spelling(String(Number(number)));
}

/** Returns one spelling for all texts of a number: its digits without zeros around them, and the exponent of the last one. */
function spelling(number: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return whole === '' ? number : '0';
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

function membersOf(value: unknown): number {
  let count = 0;
  const rest = [value];
  while (rest.length > 0) {
    const one = rest.pop();
    if (typeof one !== 'object' || one === null) continue;
    const members = Object.values(one);
    if (!Array.isArray(one)) count += members.length;
    for (const member of members) rest.push(member);
  }
  return count;
}
