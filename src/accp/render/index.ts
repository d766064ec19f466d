/** What of a message goes into a model's context. */

export { CONTEXT_RULE, type Rendered, type RenderOptions, renderForContext } from './render-for-context.js';
