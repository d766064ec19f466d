import { packetHash } from '../../build/hash.js';
import { CORE_KEYS, DOMAINS, EXTENDED_KEYS, PRIORITIES, TASKS, VERSION } from '../../vocabulary.js';
import { PACKET_TYPE } from '../deliver.js';
import type { PacketResource, ResourceResult } from './sdk-shapes.js';

/** The URI of the vocabulary among the resources of a server. */
export const VOCABULARY_URI = 'aacp://vocabulary';

/**
 * Creates the result of reading the vocabulary: the words and keys of the draft with their meanings, as JSON. A host can give it to a model that
 * writes packets. Source: draft-mackay-aacp-01, sections 4 and 5.
 *
 * @example
 * server.registerResource('vocabulary', VOCABULARY_URI, {}, () => vocabularyResource());
 */
export function vocabularyResource(): ResourceResult {
  const vocabulary = {
    version: VERSION,
    tasks: TASKS,
    domains: DOMAINS,
    priorities: PRIORITIES,
    coreKeys: CORE_KEYS,
    extendedKeys: EXTENDED_KEYS,
  };
  return { contents: [{ uri: VOCABULARY_URI, mimeType: 'application/json', text: JSON.stringify(vocabulary) }] };
}

/** Creates the content that carries a packet. Its URI contains the hash: `aacp://packet/HASH`. @throws EncodeError if the text is not a packet */
export function packetContent(packet: string): PacketResource {
  return { type: 'resource', resource: resourceOf(packet) };
}

/** Creates the result of reading a resource that contains one packet. @throws EncodeError if the text is not a packet */
export function packetResource(packet: string): ResourceResult {
  return { contents: [resourceOf(packet)] };
}

function resourceOf(packet: string): PacketResource['resource'] {
  return { uri: `aacp://packet/${packetHash(packet)}`, mimeType: PACKET_TYPE, text: packet };
}
