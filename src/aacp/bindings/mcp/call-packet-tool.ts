import { isRecord } from '../../../text/guards.js';
import type { Packet } from '../../ast.js';
import { type PacketAnswer, readAnswer } from '../answer.js';
import { AacpBindingError } from '../errors.js';
import { type OutgoingOptions, prepareOutgoing } from '../outgoing.js';
import { PACKET_TOOL } from './packet-tool.js';
import type { PacketToolClient } from './sdk-shapes.js';

/** Options of {@link callPacketTool}. */
export interface CallPacketOptions extends OutgoingOptions {
  /** The name of the tool. @default 'aacp_send' */
  readonly tool?: string | undefined;
}

/**
 * Validates a packet, sends it with a call of the tool, and returns the answer, which may be a refusal.
 *
 * @throws AacpBindingError `invalid-packet` before anything is sent; `not-aacp` if the tool does not answer in AACP
 * @throws the error of the client
 * @example
 * const answer = await callPacketTool(client, 'FETCH|HR|return:HR-Agent|p:2|aacp:1.1|res:emp_salary');
 */
export async function callPacketTool(
  client: PacketToolClient,
  packet: Packet | string,
  options: CallPacketOptions = {},
): Promise<PacketAnswer> {
  const { tool = PACKET_TOOL } = options;
  const result = await client.callTool({ name: tool, arguments: { ...prepareOutgoing(packet, options) } });
  const answer = isRecord(result) ? readAnswer(result['structuredContent']) : null;
  if (answer === null) throw new AacpBindingError('not-aacp', `The tool ${tool} did not answer in AACP.`);
  return answer;
}
