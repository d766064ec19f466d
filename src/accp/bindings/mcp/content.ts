import { bytesOfBase64, isMediaType, textOfBytes } from '../../../channels/media-type.js';
import { AccpError } from '../../errors.js';
import { FRAME_TYPE, readHead } from '../frames.js';
import { type EmbeddedResource, members, type ResourceResult } from './sdk-shapes.js';

/** Options of functions that write or read content. */
export interface ContentOptions {
  /** The media type. Messages of other protocols can be sent in the same way. @default 'application/accp' */
  readonly mimeType?: string | undefined;
}

/**
 * Creates the content that carries a frame: in the result of a tool, in a prompt, or in a message of the Agent Client Protocol, whose resource
 * blocks have the same form.
 *
 * Source: draft-benzing-accp-00, section 11.3.
 *
 * @param uri the URI of the resource; by default `accp://session/SID/frame/MID`, without the parts that the frame lacks
 * @throws TypeError if a text of another media type has no URI
 */
export function frameContent(frame: string, uri?: string | URL, options: ContentOptions = {}): EmbeddedResource {
  return { type: 'resource', resource: textResource(frame, uri, options) };
}

/**
 * Creates the result of reading a resource that contains one frame, or several in order.
 *
 * @example
 * server.registerResource('last', 'accp://last', { mimeType: FRAME_TYPE }, (uri) => frameResource(uri, frame));
 */
export function frameResource(
  uri: string | URL,
  frames: string | readonly string[],
  options: ContentOptions = {},
): ResourceResult {
  const all = typeof frames === 'string' ? [frames] : frames;
  return { contents: all.map((frame) => textResource(frame, uri, options)) };
}

function textResource(text: string, uri: string | URL | undefined, { mimeType = FRAME_TYPE }: ContentOptions) {
  return { uri: uri === undefined ? uriOf(text, mimeType) : String(uri), mimeType, text };
}

function uriOf(frame: string, mimeType: string): string {
  if (!isMediaType(mimeType, FRAME_TYPE)) throw new TypeError(`Content of the type ${mimeType} needs a URI; pass one`);
  const head = readHead(frame);
  const session = head?.sid === undefined ? '' : `session/${encodeURIComponent(head.sid)}/`;
  return `accp://${session}frame${head?.mid === undefined ? '' : `/${encodeURIComponent(head.mid)}`}`;
}

/**
 * Returns the frames in the content of a tool's result or of a prompt, or in the contents of a resource, in order.
 *
 * @throws AccpError E1001 if content of the media type is not UTF-8
 */
export function framesIn(content: unknown, { mimeType = FRAME_TYPE }: ContentOptions = {}): string[] {
  const frames: string[] = [];
  if (!Array.isArray(content)) return frames;
  for (const block of content as readonly unknown[]) {
    const outer = members(block);
    const resource = members(outer?.['resource']) ?? outer;
    if (resource === undefined || !isMediaType(resource['mimeType'], mimeType)) continue;
    const { text, blob } = resource as { readonly text?: unknown; readonly blob?: unknown };
    if (typeof text === 'string') frames.push(text);
    else if (typeof blob === 'string') frames.push(textOfBlob(blob));
  }
  return frames;
}

function textOfBlob(blob: string): string {
  const bytes = bytesOfBase64(blob);
  const text = bytes === null ? null : textOfBytes(bytes);
  if (text === null) throw new AccpError({ code: 'E1001', message: 'The content is not UTF-8 in base64.' });
  return text;
}

/** The member of a request's `_meta` that holds the frame of the call, or several frames in order. */
export const FRAME_META = 'accp/frame';

/** The member of a result's `_meta` that holds the losses of its frames, if there are any. */
export const LOSSES_META = 'accp/losses';

/** The member of a result's `_meta` that gives the reason for the absence of a frame: `expired`. */
export const DROPPED_META = 'accp/dropped';
