/** ACCP over A2A (draft-benzing-accp-00, section 11.4). Public as `pegwire/accp/a2a`. */

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
export { FRAME_TYPE, type FrameAnswer, type FrameContext, type FrameHandler } from '../frames.js';
export { LinkError, type LinkErrorCode } from '../link/errors.js';
export type { ExchangeOptions } from '../link/exchanges.js';
export type { Link, LinkOptions, LinkState, ReconnectOptions, RequestOptions } from '../link/link-options.js';
export { ACCP_EXTENSION, type AccpCard, accpCard, type Card, type CardRegistry, registryOfCard } from './card.js';
export { type A2aConnectOptions, connectA2A } from './connect.js';
export { A2aBindingError, type A2aBindingErrorCode } from './errors.js';
export { accpExecutor, type ExecutorOptions } from './executor.js';
export { frameMessage, type MessageOptions } from './message.js';
export { framePart, framesIn, type PartOptions } from './parts.js';
export type { FrameClient, FrameExecutor, MessageRequest, RawPart, TextPart } from './sdk-shapes.js';
export { type SendOptions, sendFrame, streamFrame } from './send-frame.js';
