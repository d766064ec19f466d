/** Inputs that are messages or frames. */
import type { Frame } from '../ast.js';
import { accpError } from '../errors.js';
import { isJsonObject } from './json.js';
import type { MessageInput } from './message.js';

/**
 * Returns `true` for a frame, `false` for a message.
 *
 * @throws AccpError E1004 with the path for anything else: callers without types pass texts, and results that are not there
 */
export function isFrame<M extends MessageInput>(input: M | Frame, path: string): input is Frame {
  const candidate: unknown = input;
  if (!isJsonObject(candidate)) throw accpError('E1004', path, 'must be a message or a frame');
  const { kind, agent = '', intent, operation, payload = {} } = candidate;
  if (kind === 'frame' && Array.isArray(payload)) return true;
  for (const [name, value] of Object.entries({ agent, intent, operation }))
    if (typeof value !== 'string') throw accpError('E1004', `${path}.${name}`, 'must be a string');
  if (!isJsonObject(payload)) throw accpError('E1004', `${path}.payload`, 'must be a plain object');
  return false;
}
