/** Candidates that read the same message in another notation, to plain values. */
import type * as zod from 'zod';
import { type Candidate, optionalPackage, type Read } from '../candidate.js';

type Protocol = Candidate['protocol'];

/** The baseline: `JSON.parse` of the equivalent message. */
export const jsonAccp = json('accp');
export const jsonAacp = json('aacp');

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

/** TOON: `decode` of the same message. */
export const toonAccp = toon('accp');
export const toonAacp = toon('aacp');

function json(protocol: Protocol): Candidate {
  // Wrapped, because JSON.parse must not get a second argument.
  return { ...ofJson('json', 'JSON.parse', protocol), prepare: async () => (text) => JSON.parse(text) };
}

function validated(protocol: Protocol, schema: (z: typeof zod) => zod.ZodType): Candidate {
  const prepare = async (): Promise<Read> => {
    const message = schema(await optionalPackage<typeof zod>('zod'));
    return (text) => message.parse(JSON.parse(text));
  };
  return { ...ofJson('zod', 'JSON.parse + zod', protocol), prepare };
}

function toon(protocol: Protocol): Candidate {
  const load = () =>
    optionalPackage<{ encode(value: unknown): string; decode(text: string): unknown }>('@toon-format/toon');
  return {
    ...ofJson('toon', 'TOON decode', protocol),
    input: async ({ json }) => (await load()).encode(JSON.parse(json)),
    prepare: async () => {
      const { decode } = await load();
      return (text) => decode(text);
    },
  };
}

function ofJson(id: string, name: string, protocol: Protocol) {
  return { id: `${id}-${protocol}`, name, protocol, builds: 'plain', input: ({ json }) => json } satisfies Omit<
    Candidate,
    'prepare'
  >;
}
