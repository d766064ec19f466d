/** ACCP over HTTP (draft-benzing-accp-00, section 11.1). Public as `pegwire/accp/http`. */

export { type ErrorJson, PegwireError } from '../../../text/errors.js';
export type { EncodeResult } from '../../codec/contract.js';
export type { Message, MessageInput } from '../../message/message.js';
export type { StreamChunk } from '../../streams/streams.js';
export {
  type Answer,
  type AnswerContext,
  createEndpoint,
  type Endpoint,
  type EndpointOptions,
  type Notice,
} from '../endpoint.js';
export { FrameSplitter, type FrameSplitterOptions, FramingError, type FramingErrorCode } from '../frame-splitter.js';
export { FRAME_TYPE, type FrameAnswer, type FrameContext, type FrameHandler } from '../frames.js';
export type { Link, LinkOptions, LinkState, ReconnectOptions, RequestOptions } from '../link/contract.js';
export { LinkError, type LinkErrorCode } from '../link/contract.js';
export type { ExchangeOptions } from '../link/exchanges.js';
export { type Fetch, type PostOptions, postFrame, streamFrames } from './client.js';
export { connectHttp, type HttpConnectOptions } from './connect.js';
export { createHandler, FRAMES_PATH, type HandlerOptions } from './create-handler.js';
export { HttpBindingError, type HttpBindingErrorCode } from './errors.js';
