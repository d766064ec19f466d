import { type Candidate, optionalPackage, type Read } from '../candidate.js';

/** The part of zod 4 that is used; the package is optional. */
interface Zod {
  readonly z: {
    object(shape: object): Schema;
    record(key: Schema, value: Schema): Schema;
    array(item: Schema): Schema;
    union(options: readonly Schema[]): Schema;
    lazy(schema: () => Schema): Schema;
    string(): Schema;
    number(): Schema;
    boolean(): Schema;
    null(): Schema;
  };
}

interface Schema {
  parse(value: unknown): unknown;
  optional(): Schema;
}

/** `JSON.parse` and a zod schema. */
export const zodAccp: Candidate = {
  id: 'zod-accp',
  name: 'JSON.parse + zod',
  protocol: 'accp',
  builds: 'plain',
  input: (sample) => sample.json,
  prepare: async (): Promise<Read> => {
    const { z } = await optionalPackage<Zod>('zod');
    const value: Schema = z.lazy(() =>
      z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(value), z.record(z.string(), value)]),
    );
    const message = z.object({
      agent: z.string(),
      intent: z.string(),
      operation: z.string(),
      payload: z.record(z.string(), value),
      metadata: z.record(z.string(), value).optional(),
    });
    return (text) => message.parse(JSON.parse(text));
  },
};

export const zodAacp: Candidate = {
  id: 'zod-aacp',
  name: 'JSON.parse + zod',
  protocol: 'aacp',
  builds: 'plain',
  input: (sample) => sample.json,
  prepare: async (): Promise<Read> => {
    const { z } = await optionalPackage<Zod>('zod');
    const message = z.object({ task: z.string(), domain: z.string(), fields: z.record(z.string(), z.string()) });
    return (text) => message.parse(JSON.parse(text));
  },
};
