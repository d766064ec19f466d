/** Agent cards of agents that support ACCP (draft-benzing-accp-00, sections 6.4 and 11.4). */
import { matchesHash, type Registry } from '../../registry/registry.js';
import { FRAME_TYPE } from '../frames.js';

/** The URI of ACCP among the extensions of an agent card. */
export const ACCP_EXTENSION = 'https://datatracker.ietf.org/doc/draft-benzing-accp/';

interface Extension {
  uri: string;
  description: string;
  required: boolean;
  params: { [key: string]: unknown } | undefined;
}

/** The part of an A2A `AgentCard` that the binding reads. */
export interface Card {
  /** The capabilities, with the extensions of the agent. */
  capabilities?: { extensions?: Extension[] | undefined } | undefined;
  /** The media types that the agent accepts. */
  defaultInputModes?: string[] | undefined;
  /** The media types that the agent sends. */
  defaultOutputModes?: string[] | undefined;
}

/** The members of a card that {@link accpCard} sets. */
export interface AccpCard {
  /** The capabilities, with ACCP as the last extension. */
  capabilities: { extensions: Extension[] };
  /** The accepted media types, including `application/accp`. */
  defaultInputModes: string[];
  /** The sent media types, including `application/accp`. */
  defaultOutputModes: string[];
}

/**
 * Declares in an agent card that the agent supports ACCP, and announces its registry. ACCP comes last among the media types.
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

/** The registry that an agent card announces. */
export interface CardRegistry {
  /** The version of the registry. */
  readonly version: number;
  /** The hash of the registry. */
  readonly hash: string;
  /** Tests whether a registry is the announced one. */
  readonly matches: (registry: Registry) => boolean;
}

/** Reads the registry that a card announces; `null` if the agent does not support ACCP. */
export function registryOfCard({ capabilities }: Card): CardRegistry | null {
  const { version, hash } = capabilities?.extensions?.find(({ uri }) => uri === ACCP_EXTENSION)?.params ?? {};
  if (typeof version !== 'number' || typeof hash !== 'string' || hash === '') return null;
  return { version, hash, matches: (registry) => matchesHash(registry, hash) };
}
