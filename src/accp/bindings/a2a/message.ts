/** Frames as A2A messages (draft-benzing-accp-00, section 11.4). */
import { createIds } from '../../session/runtime.js';
import { FRAME_TYPE, type FrameHead, readHead } from '../frames.js';
import { framePart, type PartOptions } from './parts.js';
import { type A2aMessage, type MessageRequest, type RawPart, ROLE, type TextPart } from './sdk-shapes.js';

export interface MessageOptions extends PartOptions {
  /** The task that the message is about. @default a new one */
  readonly taskId?: string | undefined;
  /** @default the frame's `sid`, else one that the server makes */
  readonly contextId?: string | undefined;
  /** The tenant of a server that has several. @default '' */
  readonly tenant?: string | undefined;
}

const freshId = createIds();

/**
 * The request that sends a frame: `messageId` is its `mid`, `contextId` its `sid`.
 *
 * @param frames one frame; or, in order, those that make up one message
 * @throws TypeError without a frame
 * @example
 * const task = await client.sendMessage(frameMessage(frame));
 */
export function frameMessage(
  frames: string | readonly string[],
  options?: MessageOptions & { readonly legacy?: false | undefined },
): MessageRequest<TextPart>;
export function frameMessage(
  frames: string | readonly string[],
  options?: MessageOptions,
): MessageRequest<TextPart | RawPart>;
export function frameMessage(
  frames: string | readonly string[],
  options: MessageOptions = {},
): MessageRequest<TextPart | RawPart> {
  const all = typeof frames === 'string' ? [frames] : frames;
  if (all.length === 0) throw new TypeError('A message has one frame, or several');
  const { mimeType = FRAME_TYPE, taskId = '', tenant = '' } = options;
  const heads = all.map(readHead);
  const contextId = options.contextId ?? heads.find((head) => head?.sid !== undefined)?.sid ?? '';
  return {
    tenant,
    message: messageOf(all, heads[0], { role: ROLE.user, taskId, contextId }, options),
    configuration: { acceptedOutputModes: [mimeType], taskPushNotificationConfig: undefined, returnImmediately: false },
    metadata: undefined,
  };
}

type Place = Pick<A2aMessage, 'role' | 'taskId' | 'contextId'>;

/** A message of either side; its identifier is that of the first frame. */
export function messageOf(
  frames: readonly string[],
  head: FrameHead | null | undefined,
  place: Place,
  options: PartOptions,
): A2aMessage<TextPart | RawPart> {
  return {
    messageId: head?.mid ?? freshId(),
    ...place,
    parts: frames.map((frame) => framePart(frame, options)),
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}
