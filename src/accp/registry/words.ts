/** Core operations, and the words of a registry that frames can carry without any text policy (draft-benzing-accp-00, sections 3.1 and 4.3). */

const WORD = /^[A-Za-z0-9_]+$/;
const READS_AS_ANOTHER_KIND = /^(?:[0-9]+|true|false)$/;

/** Why a text cannot be the name of a schema, field or operation; `null` where it can. */
export function whyNoWord(text: string): string | null {
  if (!WORD.test(text)) return 'is not made of letters, digits and "_"';
  // Listed in a delta, it would arrive as a number or a boolean.
  return READS_AS_ANOTHER_KIND.test(text) ? 'would be read as a number or a boolean' : null;
}

/** Core operations (draft-benzing-accp-00, section 4.3). Harnesses register more; unregistered ones are no error. */
export const CORE_OPERATIONS: readonly string[] = [
  'analyze',
  'plan',
  'execute',
  'review',
  'approve',
  'reject',
  'fetch',
  'transform',
  'summarize',
  'classify',
  'generate',
  'validate',
  'schedule',
  'notify',
  'merge',
  'split',
  'route',
  'cache',
  'purge',
];
