/** What a check finds. */

/** The runtime is not as it must be. */
export class Mismatch extends Error {
  override name = 'Mismatch';
}

export function assertThat(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Mismatch(message);
}
