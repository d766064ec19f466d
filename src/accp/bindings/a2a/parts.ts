/** Frames as parts of A2A messages and artifacts (draft-benzing-accp-00, section 11.4). */
import { isMediaType, textOfBytes } from '../../../channels/media-type.js';
import { AccpError } from '../../errors.js';
import { FRAME_TYPE } from '../frames.js';
import type { AnyPart, RawPart, TextPart } from './sdk-shapes.js';

export interface PartOptions {
  /** The media type of what is carried: messages of other protocols travel the same way. @default 'application/accp' */
  readonly mimeType?: string | undefined;
  /** For peers of A2A 0.3, whose text parts have no media type: a file, whose type survives. @default false */
  readonly legacy?: boolean | undefined;
}

/**
 * A frame as a part.
 *
 * Source: draft-benzing-accp-00, section 11.4.
 */
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
 * The frames among the parts of a message or an artifact, in their order: texts, and files that are frames. Other parts are left
 * aside.
 *
 * @throws AccpError E1001 for a file of the media type that is no UTF-8
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
  if (text === null) throw new AccpError({ code: 'E1001', message: 'The part is no UTF-8.' });
  return text;
}
