/** Messages and JSON as text for a model's context. Public as `pegwire/accp/render`. */
export {
  CONTEXT_RULE,
  type Rendered,
  type RenderJsonOptions,
  type RenderOptions,
  renderForContext,
  renderJson,
} from './render.js';
export { RenderError, type RenderErrorCode } from './render-error.js';
