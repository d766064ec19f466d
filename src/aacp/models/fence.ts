/** Text that a model is to see as data. */

/**
 * The text between two fences of backticks that are longer than any in it, so that it cannot close them. A fence stands
 * on a line of its own.
 */
export function fenced(text: string, label: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${label}\n${text}\n${fence}`;
}
