import { isMediaType, textOfBytes } from '../../../channels/media-type.js';
import { PegwireError } from '../../../text/errors.js';
import { AccpError } from '../../errors.js';
import { tryParseFrame } from '../../parse.js';
import { createIds } from '../../session/runtime.js';
import { FRAME_TYPE, type FrameHead, readHead } from '../frames.js';
import { type A2aMessage, type AnyPart, type MessageRequest, type RawPart, ROLE, type TextPart } from './sdk-shapes.js';

/** Options of {@link frameMessage}. */
export interface MessageOptions extends PartOptions {
  /** The task of the message. @default a new one */
  readonly taskId?: string | undefined;
  /** The context of the message. @default the frame's `sid`, otherwise one that the server creates */
  readonly contextId?: string | undefined;
  /** The tenant, for servers with several. @default '' */
  readonly tenant?: string | undefined;
}

const freshId = createIds();

/**
 * Creates the request that sends a frame: `messageId` is its `mid`, `contextId` its `sid`.
 *
 * @param frames one frame; or the frames of one message, in order
 * @throws TypeError if there is no frame
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
  if (all.length === 0) throw new TypeError('A message must have at least one frame');
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

type MessageAddress = Pick<A2aMessage, 'role' | 'taskId' | 'contextId'>;

export function messageOf(
  frames: readonly string[],
  head: FrameHead | null | undefined,
  address: MessageAddress,
  options: PartOptions,
): A2aMessage<TextPart | RawPart> {
  return {
    messageId: head?.mid ?? freshId(),
    ...address,
    parts: frames.map((frame) => framePart(frame, options)),
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

/** Options of {@link framePart}. */
export interface PartOptions {
  /** The media type. Messages of other protocols can be sent in the same way. @default 'application/accp' */
  readonly mimeType?: string | undefined;
  /** If true, sends a file, since text parts of A2A 0.3 have no media type. @default false */
  readonly legacy?: boolean | undefined;
}

/** Creates the part of a message that carries a frame (draft-benzing-accp-00, section 11.4). */
export function framePart(frame: string, options?: PartOptions & { readonly legacy?: false | undefined }): TextPart;
export function framePart(frame: string, options?: PartOptions): TextPart | RawPart;
export function framePart(
  frame: string,
  { mimeType = FRAME_TYPE, legacy = false }: PartOptions = {},
): TextPart | RawPart {
  const rest = { mediaType: mimeType, filename: '', metadata: undefined };
  if (legacy) return { content: { $case: 'raw', value: new TextEncoder().encode(frame) }, ...rest };
  return { content: { $case: 'text', value: frame }, ...rest };
}

/**
 * Returns the frames among the parts of a message or an artifact, in order: texts and files of the media type.
 *
 * @throws AccpError E1001 if a file of the media type is not UTF-8
 */
export function framesIn(
  parts: readonly AnyPart[],
  { mimeType = FRAME_TYPE }: Pick<PartOptions, 'mimeType'> = {},
): string[] {
  const frames: string[] = [];
  if (!Array.isArray(parts)) return frames;
  for (const { content, mediaType } of parts) {
    if (content === undefined || !isMediaType(mediaType, mimeType)) continue;
    const { $case: kind, value } = content;
    if (kind === 'text' && typeof value === 'string') frames.push(value);
    else if (kind === 'raw' && value instanceof Uint8Array) frames.push(textOf(value));
  }
  return frames;
}

function textOf(bytes: Uint8Array): string {
  const text = textOfBytes(bytes);
  if (text === null) throw new AccpError({ code: 'E1001', message: 'The part is not UTF-8.' });
  return text;
}

/**
 * The code of an `A2aBindingError`.
 *
 * - `not-accp`: the agent answered, but not in frames
 * - `truncated`: the answer ended before the task did
 */
export type A2aBindingErrorCode = 'not-accp' | 'truncated';

/** An exchange over A2A that did not return a frame. Error frames are answers, not errors of the binding. */
export class A2aBindingError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'A2aBindingError';
  /** A code that stays the same between versions. */
  declare readonly code: A2aBindingErrorCode;

  /**
   * Creates an error.
   *
   * @param code the stable reason
   * @param message the reason for people
   */
  constructor(code: A2aBindingErrorCode, message: string) {
    super({ code, message });
  }
}

/** Sorts the frames of a task by their numbers if all are of one agent. A task stores its messages separately from its artifacts. */
export function inOrder(frames: readonly string[]): readonly string[] {
  if (frames.length < 2) return frames;
  const numbered = frames.map((frame) => {
    const parsed = tryParseFrame(frame, { dialect: 'lenient' });
    const seq = parsed.ok ? parsed.value.metadata?.find(({ key }) => key === 'seq')?.value : undefined;
    return { frame, agent: parsed.ok ? parsed.value.agent : null, seq: seq?.kind === 'integer' ? seq.value : null };
  });
  const agent = numbered[0]!.agent;
  if (numbered.some((one) => one.seq === null || one.agent !== agent)) return frames;
  return numbered.sort((a, b) => (a.seq! < b.seq! ? -1 : a.seq! > b.seq! ? 1 : 0)).map(({ frame }) => frame);
}
