/** Packets and answers as parts of A2A messages. */
import { isMediaType, textOfBytes } from '../../../channels/media-type.js';
import { isRecord } from '../../../text/guards.js';
import type { Envelope } from '../../dispatch/replay-guard.js';
import { type BindingReason, type PacketAnswer, readAnswer } from '../answer.js';
import { PACKET_TYPE } from '../deliver.js';
import type { Outgoing } from '../outgoing.js';
import type { AnyPart, PacketPart } from './sdk-shapes.js';

/** The member of a part's metadata that holds the envelope of its packet: `{ nonce, sentAt }`. */
export const ENVELOPE_META = 'aacp/envelope';

/** Creates the part of a message that carries a packet. */
export function packetPart({ packet, nonce, sentAt }: Outgoing): PacketPart {
  const metadata = { [ENVELOPE_META]: { nonce, sentAt } };
  return { content: { $case: 'text', value: packet }, mediaType: PACKET_TYPE, filename: '', metadata };
}

/** A packet in a part, or the reason why it cannot be read. */
export type ReceivedPart =
  | { readonly packet: string; readonly envelope: Envelope | undefined }
  | { readonly packet: null; readonly reason: BindingReason };

/** Returns the packets among the parts of a message, in order: texts, files and data of the media type. Other parts are no packets. */
export function packetsIn(parts: readonly AnyPart[]): ReceivedPart[] {
  if (!Array.isArray(parts)) return [];
  return (parts as readonly AnyPart[])
    .filter(({ mediaType }) => isMediaType(mediaType, PACKET_TYPE))
    .map(({ content, metadata }): ReceivedPart => {
      const value = content?.value;
      const packet = value instanceof Uint8Array ? textOfBytes(value) : value;
      if (packet === null && value instanceof Uint8Array) return { packet: null, reason: 'not-utf8' };
      if (typeof packet !== 'string' || content?.$case === 'url') return { packet: null, reason: 'no-packet' };
      return { packet, envelope: metadata?.[ENVELOPE_META] as Envelope | undefined };
    });
}

/** Creates the part that carries an answer. */
export function answerPart(answer: PacketAnswer): AnyPart & { readonly filename: string } {
  const content = { $case: 'data', value: answer } as const;
  return { content, mediaType: 'application/json', filename: '', metadata: undefined };
}

/** Returns the answers among the parts of a message, in order. */
export function answersIn(parts: readonly AnyPart[]): PacketAnswer[] {
  return parts
    .map(({ content }) => (content?.$case === 'data' && isRecord(content.value) ? readAnswer(content.value) : null))
    .filter((answer) => answer !== null);
}
