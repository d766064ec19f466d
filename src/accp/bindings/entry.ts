/** The exports that the entry points for HTTP, WebSocket and A2A share. */

export { type ErrorJson, PegwireError } from '../../text/errors.js';
export type { EncodeResult } from '../codec/contract.js';
export type { Message, MessageInput } from '../message/message.js';
export type { StreamChunk } from '../streams/streams.js';
export {
  type Answer,
  type AnswerContext,
  createEndpoint,
  type Endpoint,
  type EndpointOptions,
  type Notice,
} from './endpoint.js';
export type { Link, LinkOptions, LinkState, ReconnectOptions, RequestOptions } from './link/contract.js';
export { LinkError, type LinkErrorCode } from './link/contract.js';
