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
  if (isJsonObject(candidate)) {
    const { kind, agent = '', intent, operation, payload = {} } = candidate;
    if (kind === 'frame' && Array.isArray(payload)) return true;
    const isNamed = [agent, intent, operation].every((name) => typeof name === 'string');
    if (isNamed && isJsonObject(payload)) return false;
  }
  throw accpError('E1004', path, 'must be a message or a frame');
}
