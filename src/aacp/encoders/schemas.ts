import * as z from 'zod/mini';

export const anyText = z.string({ error: 'is no text' });
export const anyTextOrNumber = z.union([anyText, z.number()], { error: 'is neither a text nor a finite number' });
export const anyNumber = z.number({ error: 'is no finite number' });
export const anyList = z.array(anyText, { error: 'is no list of texts' });
export const anyBoolean = z.boolean({ error: 'is neither true nor false' });

export const anyPriority = z.literal([1, 2, 3, '1', '2', '3'], {
  error: 'is none of 1 (critical), 2 (medium), 3 (low)',
});
