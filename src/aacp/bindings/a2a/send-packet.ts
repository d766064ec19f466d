import type { Packet } from '../../ast.js';
import type { PacketAnswer } from '../answer.js';
import { PACKET_TYPE } from '../deliver.js';
import { AacpBindingError } from '../errors.js';
import { type OutgoingOptions, prepareOutgoing } from '../outgoing.js';
import { answersIn, packetPart } from './parts.js';
import { type A2aMessage, type AnyPart, type PacketClient, ROLE, type Task } from './sdk-shapes.js';

/** Options of {@link sendPackets}. */
export interface SendPacketsOptions extends Omit<OutgoingOptions, 'envelope'> {
  /** Aborts the exchange; its reason is thrown. The task continues. */
  readonly signal?: AbortSignal | undefined;
  /** The context of the message. @default one that the server creates */
  readonly contextId?: string | undefined;
  /** The tenant, for servers with several. @default '' */
  readonly tenant?: string | undefined;
}

/** Options of {@link sendPacket}. */
export interface SendPacketOptions extends SendPacketsOptions, OutgoingOptions {}

/**
 * Validates a packet, sends it in a message, and returns the answer, which may be a refusal.
 *
 * @throws AacpBindingError `invalid-packet` before anything is sent; `not-aacp` or `truncated` if the agent does not answer in AACP
 * @throws the error of the client
 * @example
 * const answer = await sendPacket(client, 'FETCH|HR|return:HR-Agent|p:2|aacp:1.1|res:emp_salary');
 */
export async function sendPacket(
  client: PacketClient,
  packet: Packet | string,
  options: SendPacketOptions = {},
): Promise<PacketAnswer> {
  const [answer] = await send(client, [packet], options);
  return answer!;
}

/**
 * Validates packets, sends them in one message, and returns one answer per packet, in order.
 *
 * @throws AacpBindingError `invalid-packet` before anything is sent; `not-aacp` or `truncated` if the agent does not answer in AACP
 * @throws TypeError if there is no packet
 * @throws the error of the client
 */
export function sendPackets(
  client: PacketClient,
  packets: readonly (Packet | string)[],
  options: SendPacketsOptions = {},
): Promise<readonly PacketAnswer[]> {
  return send(client, packets, options);
}

async function send(
  client: PacketClient,
  packets: readonly (Packet | string)[],
  options: SendPacketOptions,
): Promise<readonly PacketAnswer[]> {
  if (packets.length === 0) throw new TypeError('A message must have at least one packet');
  const { signal, contextId = '', tenant = '' } = options;
  const outgoing = packets.map((packet) => prepareOutgoing(packet, options));
  const message: A2aMessage = {
    messageId: outgoing[0]!.nonce,
    contextId,
    taskId: '',
    role: ROLE.user,
    parts: outgoing.map(packetPart),
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  const configuration = {
    acceptedOutputModes: [PACKET_TYPE, 'application/json'],
    taskPushNotificationConfig: undefined,
    returnImmediately: false,
  };
  const request = { tenant, message, configuration, metadata: undefined };
  const result = await client.sendMessage(request, signal === undefined ? {} : { signal });
  const answers = answersIn(partsOf(result));
  if (answers.length === packets.length) return answers;
  if (answers.length === 0) throw new AacpBindingError('not-aacp', 'The agent did not answer in AACP.');
  throw new AacpBindingError('truncated', `The agent answered ${answers.length} of ${packets.length} packets.`);
}

function partsOf(result: A2aMessage | Task): readonly AnyPart[] {
  return 'parts' in result ? result.parts : (result.status?.message?.parts ?? []);
}
