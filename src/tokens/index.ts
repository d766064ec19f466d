/** Token counts, exact or estimated, and comparisons of notations. Public as `pegwire/tokens`. */
export {
  type Comparison,
  type ComparisonInput,
  type ComparisonOptions,
  compareTokens,
  NOTATIONS,
  type Notation,
  type NotationCount,
} from './compare.js';
export { ENCODINGS, type Encoding, ESTIMATING_COUNTER, estimateTokens, type TokenCounter } from './counter.js';
export { installedCounter } from './installed-counter.js';
export { countTokens, loadTokenCounter, type TokenCount } from './load-counter.js';
export { upperBoundTokens } from './upper-bound.js';
