import { notifyListener } from '../../async/listeners.js';
import type { DispatchContext, Dispatcher } from '../dispatch/dispatcher.js';
import { answerOf, type PacketAnswer } from './answer.js';

/** The media type of packets. The draft registers none. */
export const PACKET_TYPE = 'application/aacp';

/** The sender of a packet, as your application has authenticated it. */
export interface Sender {
  /** The name for the log. */
  readonly actor: string;
  /** Any other data for the handler, in `context.data`. It is not recorded. */
  readonly data?: unknown;
}

/** Options of all bindings. */
export interface DeliveryOptions {
  /** Called with the errors of handlers, of the replay guard and of the log: the sender gets a code only. */
  readonly onError?: ((thrown: unknown, packet: string) => void) | undefined;
}

/** Dispatches a text that must be exactly one packet. The promise never rejects. */
export async function deliver(
  { dispatch }: Dispatcher<unknown>,
  packet: string,
  context: DispatchContext,
  { onError }: DeliveryOptions,
): Promise<PacketAnswer> {
  const result = await dispatch(packet, { ...context, exact: true });
  const report = (thrown: unknown): void => notifyListener(() => onError?.(thrown, packet));
  if ('error' in result) report(result.error);
  if (result.auditError !== null) report(result.auditError);
  return answerOf(result);
}

/** @throws TypeError if the dispatcher is none */
export function checkDispatcher(dispatcher: Dispatcher<unknown>): Dispatcher<unknown> {
  if (typeof dispatcher?.dispatch === 'function') return dispatcher;
  throw new TypeError('The dispatcher must be the result of createDispatcher');
}
