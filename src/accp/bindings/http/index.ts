/** ACCP over HTTP (draft-benzing-accp-00, section 11.1). Public as `pegwire/accp/http`. */
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
export { type Fetch, type PostOptions, postFrame, streamFrames } from './client.js';
export { createHandler, FRAMES_PATH, type HandlerOptions } from './create-handler.js';
export { HttpBindingError, type HttpBindingErrorCode } from './errors.js';
