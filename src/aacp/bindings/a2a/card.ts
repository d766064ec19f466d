import { VERSION } from '../../vocabulary.js';
import { PACKET_TYPE } from '../deliver.js';

/** The URI of AACP among the extensions of an agent card. */
export const AACP_EXTENSION = 'https://datatracker.ietf.org/doc/draft-mackay-aacp/';

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

/** The members of a card that {@link aacpCard} sets. */
export interface AacpCard {
  /** The capabilities, with AACP as the last extension. */
  capabilities: { extensions: Extension[] };
  /** The accepted media types, including `application/aacp`. */
  defaultInputModes: string[];
  /** The sent media types, including `application/json`. */
  defaultOutputModes: string[];
}

/** Options of {@link aacpCard}. */
export interface AacpCardOptions {
  /** The routes that the agent handles, as in `handlers` of the dispatcher: `FETCH|HR`. @default ['*|*'] */
  readonly routes?: readonly string[] | undefined;
}

/**
 * Declares in an agent card that the agent takes AACP packets, and announces their routes.
 *
 * @example
 * const card = aacpCard(plainCard, { routes: ['FETCH|HR', 'LOG|*'] });
 */
export function aacpCard<C extends Card>(card: C, { routes = ['*|*'] }: AacpCardOptions = {}): C & AacpCard {
  const { capabilities, defaultInputModes = [], defaultOutputModes = [] } = card;
  const params = { version: VERSION, routes: [...routes] };
  const extension = { uri: AACP_EXTENSION, description: 'AACP packets', required: false, params };
  const others = (capabilities?.extensions ?? []).filter(({ uri }) => uri !== AACP_EXTENSION);
  return {
    ...card,
    capabilities: { ...capabilities, extensions: [...others, extension] },
    defaultInputModes: [...new Set([...defaultInputModes, PACKET_TYPE])],
    defaultOutputModes: [...new Set([...defaultOutputModes, 'application/json'])],
  };
}

/** Returns the routes that a card announces; `null` if the agent does not take AACP packets. */
export function routesOfCard({ capabilities }: Card): readonly string[] | null {
  const routes = capabilities?.extensions?.find(({ uri }) => uri === AACP_EXTENSION)?.params?.['routes'];
  return Array.isArray(routes) && routes.every((route) => typeof route === 'string') ? routes : null;
}
