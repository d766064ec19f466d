import { systemReason } from '../../../text/system-reason.js';
import { type Link, LinkError, type LinkOptions } from '../link/contract.js';
import { type ExchangeOptions, openExchanges } from '../link/exchanges.js';
import { A2aBindingError } from './message.js';
import type { FrameClient } from './sdk-shapes.js';
import { type SendOptions, streamFrame } from './send-frame.js';

/** Options of {@link connectA2A}. */
export interface A2aConnectOptions extends LinkOptions, ExchangeOptions, Pick<SendOptions, 'legacy' | 'tenant'> {}

/**
 * Connects a session to an agent that supports ACCP. Each frame is an A2A message; the frames of its task are its answers, and the agent sends
 * frames in such tasks only. If a message fails, the link reconnects (`reconnect`, 8 attempts by default) and sends lost frames again;
 * no message is processed twice. Other tasks continue.
 *
 * Source: draft-benzing-accp-00, section 11.4.
 *
 * @param client a client of the A2A SDK
 * @throws LinkError `unreachable` without an answer, `refused` if the agent does not answer in frames, or does not accept such messages
 * @throws TypeError if an option is invalid
 * @example
 * const session = createSession({ agent: 'planner', sequence: 'sender' });
 * const link = await connectA2A(await new ClientFactory().createFromUrl(url), { codec, session });
 * const { payload } = await link.request({ intent: 'req', operation: 'add', payload: { a: 2, b: 3 } });
 */
export function connectA2A(client: FrameClient, options: A2aConnectOptions): Promise<Link> {
  const { legacy, tenant } = options;
  return openExchanges(options, {
    exchange: (frame, signal) => streamFrame(client, frame, { legacy, tenant, signal }),
    failureOf,
  });
}

/** Reasons of A2A errors that another attempt would cause again (A2A 1.0, section 9.5). */
const PERMANENT_REASONS: ReadonlySet<unknown> = new Set([
  'UNSUPPORTED_OPERATION',
  'CONTENT_TYPE_NOT_SUPPORTED',
  'EXTENSION_SUPPORT_REQUIRED',
  'VERSION_NOT_SUPPORTED',
  'INVALID_PARAMS',
]);

function failureOf(thrown: unknown): LinkError {
  const { reason } = (thrown ?? {}) as { readonly reason?: unknown };
  const isPermanent =
    (thrown instanceof A2aBindingError && thrown.code === 'not-accp') || PERMANENT_REASONS.has(reason);
  return new LinkError(isPermanent ? 'refused' : 'unreachable', systemReason(thrown), { cause: thrown });
}
