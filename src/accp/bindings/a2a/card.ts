/** How agents that speak ACCP advertise it (draft-benzing-accp-00, sections 6.4 and 11.4). */
import { matchesHash, type Registry } from '../../registry/registry.js';
import { FRAME_TYPE } from '../frames.js';

/** Names ACCP among the extensions of an agent card. */
export const ACCP_EXTENSION = 'https://datatracker.ietf.org/doc/draft-benzing-accp/';

interface Extension {
  uri: string;
  description: string;
  required: boolean;
  params: { [key: string]: unknown } | undefined;
}

export interface Card {
  capabilities?: { extensions?: Extension[] | undefined } | undefined;
  defaultInputModes?: string[] | undefined;
  defaultOutputModes?: string[] | undefined;
}

export interface AccpCard {
  capabilities: { extensions: Extension[] };
  defaultInputModes: string[];
  defaultOutputModes: string[];
}

/**
 * Adds to an agent card that the agent speaks ACCP, and its registry. ACCP comes last among the modes.
 *
 * @example
 * const card = accpCard(plainCard, { registry: codec.registry });
 */
export function accpCard<C extends Card>(card: C, { registry }: { readonly registry: Registry }): C & AccpCard {
  const { capabilities, defaultInputModes, defaultOutputModes } = card;
  const { version, hash } = registry;
  const extension = { uri: ACCP_EXTENSION, description: 'ACCP frames', required: false, params: { version, hash } };
  const others = (capabilities?.extensions ?? []).filter(({ uri }) => uri !== ACCP_EXTENSION);
  return {
    ...card,
    capabilities: { ...capabilities, extensions: [...others, extension] },
    defaultInputModes: withFrames(defaultInputModes),
    defaultOutputModes: withFrames(defaultOutputModes),
  };
}

function withFrames(modes: readonly string[] = []): string[] {
  return modes.includes(FRAME_TYPE) ? [...modes] : [...modes, FRAME_TYPE];
}

export interface CardRegistry {
  readonly version: number;
  readonly hash: string;
  /** Reports whether a registry is the announced one. */
  readonly matches: (registry: Registry) => boolean;
}

/** Reads the registry that a card announces; `null` if the agent does not speak ACCP. */
export function registryOfCard({ capabilities }: Card): CardRegistry | null {
  const { version, hash } = capabilities?.extensions?.find(({ uri }) => uri === ACCP_EXTENSION)?.params ?? {};
  if (typeof version !== 'number' || typeof hash !== 'string' || hash === '') return null;
  return { version, hash, matches: (registry) => matchesHash(registry, hash) };
}
