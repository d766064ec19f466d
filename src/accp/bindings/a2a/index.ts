/** ACCP over A2A (draft-benzing-accp-00, section 11.4). Public as `pegwire/accp/a2a`. */

// biome-ignore lint/performance/noReExportAll: it lists names for entry points alone
export * from '../entry.js';
export { FRAME_TYPE, type FrameAnswer, type FrameContext, type FrameHandler } from '../frames.js';
export type { ExchangeOptions } from '../link/exchanges.js';
export { ACCP_EXTENSION, type AccpCard, accpCard, type Card, type CardRegistry, registryOfCard } from './card.js';
export { type A2aConnectOptions, connectA2A } from './connect.js';
export { accpExecutor, type ExecutorOptions } from './executor.js';
export {
  A2aBindingError,
  type A2aBindingErrorCode,
  frameMessage,
  framePart,
  framesIn,
  type MessageOptions,
  type PartOptions,
} from './message.js';
export type { FrameClient, FrameExecutor, MessageRequest, RawPart, TextPart } from './sdk-shapes.js';
export { type SendOptions, sendFrame, streamFrame } from './send-frame.js';
