/** What a packet says about itself, remembered: the same ones are served again and again. */
import { tryParsePacket } from '../parse.js';
import type { RegistryRequest } from '../registry/registry.js';
import { validatePacket } from '../validate.js';

export interface PacketFacts {
  /** Whether it is as strict as what the encoder writes, and the validator finds no errors. */
  readonly valid: boolean;
  readonly task: string;
  readonly domain: string;
  readonly returnAgent: string | undefined;
  /** As section 5.3 has it: 2 where it is not said. */
  readonly priority: string;
  readonly version: string | undefined;
}

/** Most packets that are remembered, and the longest. */
const MAX_KNOWN = 2000;
const MAX_LENGTH = 2000;
const known = new Map<string, PacketFacts>();

export function factsOf(text: string): PacketFacts {
  const remembered = known.get(text);
  if (remembered !== undefined) return remembered;
  const facts = readFacts(text);
  if (known.size >= MAX_KNOWN) known.clear();
  if (text.length <= MAX_LENGTH) known.set(text, facts);
  return facts;
}

function readFacts(text: string): PacketFacts {
  const read = tryParsePacket(text);
  if (!read.ok) {
    return { valid: false, task: '', domain: '', returnAgent: undefined, priority: '2', version: undefined };
  }
  const { task, domain, fields } = read.value;
  const fieldOf = (name: string): string | undefined => fields.find(({ key }) => key === name)?.value;
  return {
    valid: validatePacket(read.value).valid,
    task,
    domain,
    returnAgent: fieldOf('return'),
    priority: fieldOf('p') ?? '2',
    version: fieldOf('aacp'),
  };
}

/** Whether a packet from elsewhere may be served: valid, and for this very request. */
export function isPacketFor(text: unknown, request: RegistryRequest): boolean {
  if (typeof text !== 'string') return false;
  const { valid, domain, returnAgent, priority, version } = factsOf(text);
  return (
    valid &&
    domain === request.domain &&
    returnAgent === request.returnAgent &&
    priority === request.priority &&
    version === request.version
  );
}
