import { type Candidate, optionalPackage, type Read, type Sample } from '../candidate.js';

interface Toon {
  encode(value: unknown): string;
  decode(text: string): unknown;
}

/** TOON: `decode` of the same message. */
export const toonAccp: Candidate = toon('accp');
export const toonAacp: Candidate = toon('aacp');

const load = (): Promise<Toon> => optionalPackage<Toon>('@toon-format/toon');

function toon(protocol: 'accp' | 'aacp'): Candidate {
  return {
    id: `toon-${protocol}`,
    name: 'TOON decode',
    protocol,
    builds: 'plain',
    input: async ({ json }: Sample) => (await load()).encode(JSON.parse(json)),
    prepare: async (): Promise<Read> => {
      const { decode } = await load();
      return (text) => decode(text);
    },
  };
}
