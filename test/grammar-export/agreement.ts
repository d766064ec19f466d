/**
 * Disagreements between an export and a parser: on texts that the parser accepts, and on those that it rejects for a
 * reason that the export expresses.
 */

export interface Disagreements {
  /** Valid texts that the export rejects. */
  readonly refused: readonly string[];
  /** Invalid texts that it accepts. */
  readonly accepted: readonly string[];
}

export const NONE: Disagreements = { refused: [], accepted: [] };

export async function disagreements(
  valid: readonly string[],
  invalid: readonly string[],
  matches: (text: string) => boolean | Promise<boolean>,
): Promise<Disagreements> {
  const refused: string[] = [];
  const accepted: string[] = [];
  for (const text of valid) if (!(await matches(text))) refused.push(text);
  for (const text of invalid) if (await matches(text)) accepted.push(text);
  return { refused, accepted };
}
