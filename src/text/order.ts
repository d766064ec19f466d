/** Orders text by code unit, as the canonical forms do; never by locale, which differs between machines. */
export function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
