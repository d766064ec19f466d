import type * as zod from 'zod';
import { type Candidate, optionalPackage, type Read } from '../candidate.js';

/** `JSON.parse` and a zod schema. */
export const zodAccp = validated('accp', (z) => {
  const value: zod.ZodType = z.lazy(() =>
    z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(value), z.record(z.string(), value)]),
  );
  return z.object({
    agent: z.string(),
    intent: z.string(),
    operation: z.string(),
    payload: z.record(z.string(), value),
    metadata: z.record(z.string(), value).optional(),
  });
});

export const zodAacp = validated('aacp', (z) =>
  z.object({ task: z.string(), domain: z.string(), fields: z.record(z.string(), z.string()) }),
);

function validated(protocol: 'accp' | 'aacp', schema: (z: typeof zod) => zod.ZodType): Candidate {
  return {
    id: `zod-${protocol}`,
    name: 'JSON.parse + zod',
    protocol,
    builds: 'plain',
    input: (sample) => sample.json,
    prepare: async (): Promise<Read> => {
      const message = schema(await optionalPackage<typeof zod>('zod'));
      return (text) => message.parse(JSON.parse(text));
    },
  };
}
