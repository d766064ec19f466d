import * as z from 'zod';
import { notifyListener } from '../../../async/listeners.js';
import { isRecord } from '../../../text/guards.js';
import type { Dispatcher } from '../../dispatch/dispatcher.js';
import type { Envelope } from '../../dispatch/replay-guard.js';
import { type PacketAnswer, refusedAnswer } from '../answer.js';
import { checkDispatcher, type DeliveryOptions, deliver, type Sender } from '../deliver.js';
import { packetContent } from './resources.js';
import type { PacketToolResult } from './sdk-shapes.js';

/** The name under which servers list the tool. */
export const PACKET_TOOL = 'aacp_send';

/** The description of the tool, for models. */
export const PACKET_TOOL_DESCRIPTION =
  'Sends one AACP packet: TASK|DOM|return:AGENT|p:PRIORITY|aacp:1.1|key:value|... The packet must be the whole value, on one line, without ' +
  'other text. If it is refused, the errors say what to correct.';

/** The input of the tool. Pass it to `registerTool` of SDK 2, and its `shape` to that of SDK 1. */
export const PACKET_INPUT = z.object({
  packet: z.string().describe('The packet, and nothing else'),
  nonce: z.string().optional().describe('Chosen by the sender, unique for each packet'),
  sentAt: z.number().optional().describe('The time of sending, in milliseconds since 1970'),
});

/** Options of {@link createPacketTool}. */
export interface PacketToolOptions extends DeliveryOptions {
  /**
   * Returns the sender of a call; `null` refuses it. The argument is `extra` of SDK 1, or `ctx` of SDK 2. If it throws, the call is refused.
   * @default every client is accepted, without a name
   */
  readonly authenticate?: ((request: unknown) => Sender | null | Promise<Sender | null>) | undefined;
}

/** The callback of `registerTool` in SDK 1 and SDK 2. */
export type PacketToolHandler = (args: unknown, context?: unknown) => Promise<PacketToolResult>;

/**
 * Creates the callback of a tool that passes packets to a dispatcher. The answer is in `structuredContent` and, for models, as text; a packet
 * that answers is also a resource `aacp://packet/HASH`. Refusals have `isError`. Of an error that a handler throws, only the code is sent.
 *
 * Source: draft-mackay-aacp-01, sections 7, 11 and 15.
 *
 * @throws TypeError if an option is invalid
 * @example
 * server.registerTool(PACKET_TOOL, { inputSchema: PACKET_INPUT }, createPacketTool(dispatcher));
 */
export function createPacketTool(dispatcher: Dispatcher<unknown>, options: PacketToolOptions = {}): PacketToolHandler {
  checkDispatcher(dispatcher);
  const { authenticate, onError } = options;
  if (authenticate !== undefined && typeof authenticate !== 'function')
    throw new TypeError('authenticate must be a function');
  return async (args, context) => {
    let sender: Sender | null | undefined;
    try {
      sender = await authenticate?.(context);
    } catch (thrown) {
      notifyListener(() => onError?.(thrown, ''));
      sender = null;
    }
    if (sender === null) return resultOf(refusedAnswer('unauthenticated'));
    const { packet, nonce, sentAt } = isRecord(args) ? args : {};
    if (typeof packet !== 'string') return resultOf(refusedAnswer('no-packet'));
    const envelope = envelopeOf(nonce, sentAt);
    return resultOf(
      await deliver(dispatcher, packet, { actor: sender?.actor, data: sender?.data, envelope }, { onError }),
    );
  };
}

/** Returns the envelope of a call. Members that are missing or malformed are kept so, for the replay guard to reject. */
function envelopeOf(nonce: unknown, sentAt: unknown): Envelope | undefined {
  return nonce === undefined && sentAt === undefined ? undefined : ({ nonce, sentAt } as Envelope);
}

function resultOf(answer: PacketAnswer): PacketToolResult {
  const content: PacketToolResult['content'] = [{ type: 'text', text: JSON.stringify(answer) }];
  if (answer.ok && answer.packet !== undefined) content.unshift(packetContent(answer.packet));
  const result: PacketToolResult = { content, structuredContent: { ...answer } };
  if (!answer.ok) result.isError = true;
  return result;
}
