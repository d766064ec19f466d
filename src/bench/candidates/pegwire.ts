/** pegwire's own parsers, with explained errors and raw. */
import * as rawAacp from '../../../generated/aacp.js';
import * as rawAccp from '../../../generated/accp.js';
import { parsePacket } from '../../aacp/index.js';
import { parseFrame } from '../../accp/index.js';
import { type Candidate, type Read, Unavailable } from '../candidate.js';

export const pegwireAccp: Candidate = ast('accp', 'parseFrame', (text) => parseFrame(text));
export const rawFrames: Candidate = ast('accp', 'raw parser', (text) => rawAccp.parse(text));
/** From a copy of the module: code compiled for one mode would slow down the other. */
export const rawFramesSpans: Candidate = {
  id: 'pegwire-accp-raw-parser-with-spans',
  name: 'pegwire raw parser with spans',
  protocol: 'accp',
  builds: 'ast',
  prepare: async (): Promise<Read> => {
    const copy = new URL('../../../generated/accp.js?spans', import.meta.url).href;
    const { parse } = (await import(copy)) as typeof rawAccp;
    return (text) => parse(text, { spans: true });
  },
};

export const pegwireAacp: Candidate = ast('aacp', 'parsePacket', (text) => parsePacket(text));
export const rawPackets: Candidate = ast('aacp', 'raw parser', (text) => rawAacp.parse(text));
export const rawPacketsSpans: Candidate = ast('aacp', 'raw parser with spans', (text) =>
  rawAacp.parse(text, { spans: true }),
);

/** Optional exports of generated parsers. */
interface Extras {
  readonly recognize?: (text: string, options?: object) => boolean;
  readonly StartRules?: readonly string[];
}

export const recognizeAccp: Candidate = recognizer('accp', rawAccp);
export const recognizeAacp: Candidate = recognizer('aacp', rawAacp);

export const envelope: Candidate = {
  id: 'pegwire-accp-envelope',
  name: 'pegwire envelope only',
  protocol: 'accp',
  builds: 'envelope',
  prepare: async (): Promise<Read> => {
    const { StartRules, parse } = rawAccp as Extras & { parse: (text: string, options: object) => unknown };
    if (!StartRules?.includes('envelope')) throw new Unavailable('the generated parser has no start rule "envelope"');
    return (text) => parse(text, { startRule: 'envelope' });
  },
};

function ast(protocol: 'accp' | 'aacp', name: string, read: Read): Candidate {
  const id = `pegwire-${protocol}-${name.replace(/[^A-Za-z]+/g, '-')}`;
  return { id, name: `pegwire ${name}`, protocol, builds: 'ast', prepare: async () => read };
}

function recognizer(protocol: 'accp' | 'aacp', parser: Extras): Candidate {
  return {
    id: `pegwire-${protocol}-recognize`,
    name: 'pegwire recognize only',
    protocol,
    builds: 'verdict',
    prepare: async (): Promise<Read> => {
      const { recognize } = parser;
      if (recognize === undefined) throw new Unavailable('the generated parser has no export "recognize"');
      return (text) => recognize(text);
    },
  };
}
