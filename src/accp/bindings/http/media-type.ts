/** Media types as headers have them (RFC 9110, section 8.3.1). */
import { asciiLowerCase, withoutBlanks } from '../../../text/ascii.js';

/** In lower case, but for the values of parameters. */
export interface MediaType {
  /** `application/accp` */
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const TYPE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)/;
const PARAMETER =
  /[ \t]*;[ \t]*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\]|\\.)*)"))?/y;

/** Reads a `Content-Type`; `null` for one that breaks the grammar, or names a parameter twice. */
export function readMediaType(header: string): MediaType | null {
  const text = withoutBlanks(header);
  const [whole, type] = TYPE.exec(text) ?? [];
  if (whole === undefined) return null;
  const parameters = new Map<string, string>();
  let at = whole.length;
  while (at < text.length) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(text);
    if (match === null) return null;
    at = PARAMETER.lastIndex;
    const [, name, token, quoted] = match;
    if (name === undefined) continue;
    const key = asciiLowerCase(name);
    if (parameters.has(key)) return null;
    parameters.set(key, token ?? quoted!.replace(/\\(.)/g, '$1'));
  }
  return { type: asciiLowerCase(type!), parameters };
}

/** Whether a `Content-Type` says that the body is frames, in the one encoding that they have (section 12.1). */
export function isFrameType(header: string | null): boolean {
  const media = mediaTypeOf(header);
  if (media === null || media.type !== 'application/accp') return false;
  const charset = media.parameters.get('charset');
  return charset === undefined || asciiLowerCase(charset) === 'utf-8';
}

/** Whether the sender speaks of frames at all, in whatever encoding. */
export function namesFrames(header: string | null): boolean {
  return mediaTypeOf(header)?.type === 'application/accp';
}

function mediaTypeOf(header: string | null): MediaType | null {
  return header === null ? null : readMediaType(header);
}
