/** The exports that the entry points of all bindings share. */

export { type ErrorJson, PegwireError } from '../../text/errors.js';
export type { DispatchContext, Dispatcher, DispatchResult } from '../dispatch/dispatcher.js';
export type { Envelope } from '../dispatch/replay-guard.js';
export type {
  AnswerFinding,
  AnswerReason,
  BindingReason,
  HandledAnswer,
  PacketAnswer,
  RefusedAnswer,
} from './answer.js';
export { type DeliveryOptions, PACKET_TYPE, type Sender } from './deliver.js';
export { AacpBindingError, type AacpBindingErrorCode } from './errors.js';
export type { OutgoingOptions } from './outgoing.js';
