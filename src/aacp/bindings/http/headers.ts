/** Names of AACP over HTTP. The draft leaves the transport open (section 11), so they are this library's own. */
import type { Envelope } from '../../dispatch/replay-guard.js';

/** The default path of packets. */
export const PACKETS_PATH = '/aacp/v1/packets';

/** The header that carries the nonce of the envelope. */
export const NONCE_HEADER = 'aacp-nonce';

/** The header that carries the time of the envelope, in milliseconds since 1970. */
export const SENT_AT_HEADER = 'aacp-sent-at';

/** The header of an answer that carries the hash of the packet. */
export const HASH_HEADER = 'aacp-hash';

/** The header of an answer that carries the codes of the warnings. */
export const WARNINGS_HEADER = 'aacp-warnings';

/** The media type of refusals (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json';

const MILLISECONDS = /^\d{1,16}$/;

/** Reads the envelope of a request. Values that are malformed are kept so, for the replay guard to reject. */
export function envelopeIn(headers: Headers): Envelope | undefined {
  const nonce = headers.get(NONCE_HEADER);
  const sentAt = headers.get(SENT_AT_HEADER);
  if (nonce === null && sentAt === null) return undefined;
  return { nonce: nonce ?? '', sentAt: MILLISECONDS.test(sentAt ?? '') ? Number(sentAt) : Number.NaN };
}
