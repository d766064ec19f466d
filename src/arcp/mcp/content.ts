/** Contents of MCP results, as streams. */
import { bytesOfBase64 } from '../../channels/media-type.js';
import { isRecord } from '../../text/guards.js';
import { ArcpError } from '../protocol/errors.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';
import type { JobContext } from '../runtime/types.js';
import type { Content, StreamWriter } from '../streams/content.js';
import type { Members } from './connection.js';

/** The longest text or base64 in a result, in UTF-16 code units, if the client supports streams. Longer ones are only streamed. */
const MAX_INLINE_LENGTH = 256 * 1024;

/** The member of `_meta` that names the stream of a content. */
const STREAM_META = 'arcp/stream_id';

/** Moves large binary data of a tool's result to streams, so that the result fits into a message. */
export async function withoutLargeData(result: Members, context: JobContext): Promise<Members> {
  const { content } = result;
  if (!Array.isArray(content)) return result;
  const kept: unknown[] = [];
  for (const block of content as readonly unknown[]) {
    const { data, resource } = isRecord(block) ? block : {};
    if (isRecord(resource) && isLarge(resource['blob']))
      kept.push({ ...(block as Members), resource: await streamed(resource, context) });
    else kept.push(isLarge(data) ? await streamed(block as Members, context) : block);
  }
  return { ...result, content: kept };
}

function isLarge(data: unknown): data is string {
  return typeof data === 'string' && data.length > MAX_INLINE_LENGTH;
}

/** Streams a content, if the client supports its kind of streams. @returns the content with the id of the stream, without its data if they are large */
export async function streamed(content: Members, context: JobContext): Promise<Members> {
  const { text, blob, data, ...rest } = content;
  const whole = text ?? blob ?? data;
  const isText = whole === text;
  if (typeof whole !== 'string' || !(context.streams === 'all' || (isText && context.streams === 'text')))
    return content;
  const { uri, mimeType } = rest;
  const named = {
    name: typeof uri === 'string' ? uri : undefined,
    contentType: typeof mimeType === 'string' ? mimeType : undefined,
  };
  const id = isText
    ? await sendAll(context.stream({ kind: 'text', ...named }), whole)
    : await sendAll(context.stream({ kind: 'binary', ...named }), bytesOf(whole));
  const _meta = { ...(isRecord(rest['_meta']) ? rest['_meta'] : {}), [STREAM_META]: id };
  return isLarge(whole) ? { ...rest, _meta } : { ...content, _meta };
}

async function sendAll<K extends StreamKind>(stream: StreamWriter<K>, content: Content<K>): Promise<string> {
  await stream.write(content);
  await stream.close();
  return stream.id;
}

function bytesOf(base64: string): Uint8Array {
  const bytes = bytesOfBase64(base64);
  if (bytes === null) throw new ArcpError('INTERNAL', 'The content of the MCP server is not valid base64');
  return bytes;
}
