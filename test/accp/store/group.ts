/** The sessions of the tests of group commits. */

/** The identifiers of the sessions. */
export const GROUP: readonly string[] = Array.from({ length: 32 }, (_, index) => `s${index}`);

/** Returns the number of a frame in its session. */
export function numberOf(frame: string): number {
  return Number(/seq:(\d+)/.exec(frame)![1]);
}
