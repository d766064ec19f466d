import type { Packet } from '../ast.js';
import { canonicalText } from '../build/hash.js';
import { exactFault } from '../dispatch/exact.js';
import type { Envelope } from '../dispatch/replay-guard.js';
import { type ValidateOptions, validatePacket } from '../validate.js';
import { AacpBindingError } from './errors.js';

/** Options of all senders. */
export interface OutgoingOptions {
  /** The nonce and the time of sending. @default a random nonce, and the present time */
  readonly envelope?: Envelope | undefined;
  /** Returns milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
  /** Options of the validation before sending. @default those of `validatePacket` */
  readonly validate?: ValidateOptions | undefined;
}

/** A packet that may be sent. */
export interface Outgoing extends Envelope {
  readonly packet: string;
}

/**
 * Validates a packet and gives it an envelope. "Validation errors MUST be reported before transmission" (section 7).
 *
 * @throws AacpBindingError `invalid-packet`
 */
export function prepareOutgoing(given: Packet | string, options: OutgoingOptions): Outgoing {
  const { valid, errors, packet } = validatePacket(given, options.validate);
  if (!valid || packet === null)
    throw new AacpBindingError(
      'invalid-packet',
      `The packet is not valid: ${errors.map(({ message }) => message).join(' ')}`,
    );
  const text = typeof given === 'string' ? given : canonicalText(packet);
  const fault = exactFault(text, packet);
  if (fault !== null) throw new AacpBindingError('invalid-packet', `The text is not exactly one packet (${fault}).`);
  const { nonce = freshNonce(), sentAt = (options.now ?? Date.now)() } = options.envelope ?? {};
  return { packet: text, nonce, sentAt };
}

const NONCE_BYTES = 16;

function freshNonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
