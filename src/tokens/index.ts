/** Tokens: how many a text is, exactly or estimated, and what a message costs in several notations. */

export {
  type ComparedForm,
  type Comparison,
  type ComparisonInput,
  type ComparisonOptions,
  compareTokens,
  FORMS,
  type Form,
} from './compare.js';
export { countTokens, type TokenCount } from './count.js';
export { ESTIMATING_COUNTER, type TokenCounter } from './counter.js';
export { ENCODINGS, type Encoding } from './encodings.js';
export { estimateTokens } from './estimate.js';
export { installedCounter } from './installed-counter.js';
export { loadTokenCounter } from './load-counter.js';
export { upperBoundTokens } from './upper-bound.js';
