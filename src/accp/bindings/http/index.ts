/** ACCP over HTTP (draft-benzing-accp-00, section 11.1). Public as `pegwire/accp/http`. */

// biome-ignore lint/performance/noReExportAll: it lists names for entry points alone
export * from '../entry.js';
export { FrameSplitter, type FrameSplitterOptions, FramingError, type FramingErrorCode } from '../frame-splitter.js';
export { FRAME_TYPE, type FrameAnswer, type FrameContext, type FrameHandler } from '../frames.js';
export type { ExchangeOptions } from '../link/exchanges.js';
export {
  type Fetch,
  HttpBindingError,
  type HttpBindingErrorCode,
  type PostOptions,
  postFrame,
  streamFrames,
} from './client.js';
export { connectHttp, type HttpConnectOptions } from './connect.js';
export { createHandler, FRAMES_PATH, type HandlerOptions } from './create-handler.js';
