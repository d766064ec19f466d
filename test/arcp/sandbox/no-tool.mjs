/** Exports nothing that could be called. */
export const tool = 1;
