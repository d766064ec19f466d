/** The exports that the entry points of all frameworks share. */
export { CONTEXT_RULE } from '../accp/render/index.js';
export { type ErrorJson, PegwireError } from '../text/errors.js';
export type { HistoryOptions } from './stored.js';
export {
  type AccpToolSetOptions,
  type ArcpToolSetOptions,
  type ContextMessage,
  contextMessage,
  FrameworkError,
  ToolError,
  type ToolPeer,
  type ToolProgress,
  type ToolRuntime,
  type ToolSetOptions,
} from './tool-set.js';
