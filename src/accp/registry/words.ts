/** Core operations, and names that frames can carry under any text policy (draft-benzing-accp-00, sections 3.1 and 4.3). */

const WORD = /^[A-Za-z0-9_]+$/;
const READS_AS_ANOTHER_KIND = /^(?:[0-9]+|true|false)$/;

/** Returns why a text cannot name a schema, field or operation, or `null`. */
export function whyNoWord(text: string): string | null {
  if (!WORD.test(text)) return 'is not made of letters, digits and "_"';
  // In a delta, it would be read as a number or a boolean.
  return READS_AS_ANOTHER_KIND.test(text) ? 'would be read as a number or a boolean' : null;
}

/** Core operations (draft-benzing-accp-00, section 4.3). Others can be registered; unregistered ones are allowed. */
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
