/** pegwire's own parsers, with explained errors and raw. */
import * as rawAacp from '../../../generated/aacp.js';
import * as rawAccp from '../../../generated/accp.js';
import { parsePacket } from '../../aacp/index.js';
import { parseFrame } from '../../accp/index.js';
import { type Candidate, type Read, Unavailable } from '../candidate.js';

/** Optional exports of generated parsers. */
interface Extras {
  readonly recognize?: (text: string, options?: object) => boolean;
  readonly StartRules?: readonly string[];
}

export const pegwireAccp = candidate('accp', 'parseFrame', 'ast', () => (text) => parseFrame(text));
export const rawFrames = candidate('accp', 'raw parser', 'ast', () => (text) => rawAccp.parse(text));
/** Uses a copy of the module: code that is optimized for one mode would slow down the other. */
export const rawFramesSpans = candidate('accp', 'raw parser with spans', 'ast', async () => {
  const copy = new URL('../../../generated/accp.js?spans', import.meta.url).href;
  const { parse } = (await import(copy)) as typeof rawAccp;
  return (text) => parse(text, { spans: true });
});
export const recognizeAccp = candidate('accp', 'recognize only', 'verdict', () => recognizer(rawAccp));
export const envelope = candidate('accp', 'envelope only', 'envelope', () => {
  const { StartRules, parse } = rawAccp as Extras & { parse: (text: string, options: object) => unknown };
  if (!StartRules?.includes('envelope')) throw new Unavailable('the generated parser has no start rule "envelope"');
  return (text) => parse(text, { startRule: 'envelope' });
});

export const pegwireAacp = candidate('aacp', 'parsePacket', 'ast', () => (text) => parsePacket(text));
export const rawPackets = candidate('aacp', 'raw parser', 'ast', () => (text) => rawAacp.parse(text));
export const rawPacketsSpans = candidate('aacp', 'raw parser with spans', 'ast', () => {
  return (text) => rawAacp.parse(text, { spans: true });
});
export const recognizeAacp = candidate('aacp', 'recognize only', 'verdict', () => recognizer(rawAacp));

function recognizer({ recognize }: Extras): Read {
  if (recognize === undefined) throw new Unavailable('the generated parser has no export "recognize"');
  return (text) => recognize(text);
}

function candidate(
  protocol: Candidate['protocol'],
  name: string,
  builds: Candidate['builds'],
  prepare: () => Read | Promise<Read>,
): Candidate {
  const id = `pegwire-${protocol}-${name.replace(/ only$/, '').replace(/[^A-Za-z]+/g, '-')}`;
  return { id, name: `pegwire ${name}`, protocol, builds, prepare: async () => prepare() };
}
