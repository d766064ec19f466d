/** Milliseconds that a timer can hold; a longer one would go off at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;
