/** ACCP frames (draft-benzing-accp-00): parse, print, canonicalize, explain, walk. Portable: no package, no Node built-in. */

export type { SourceName } from '../text/code-frame.js';
export type { Result } from '../text/errors.js';
export { type ErrorJson, ParseError, type ParseReason, PegwireError, PrintError } from '../text/errors.js';
export type { Limits } from '../text/limits.js';
export type { Span } from '../text/span.js';
export {
  type AccpNode,
  type ArrayValue,
  type BooleanValue,
  type DecimalValue,
  FRAME_CHILD_KEYS,
  type Frame,
  type FrameEnvelope,
  type IntegerValue,
  type MapValue,
  type NodeOf,
  type NullValue,
  type Param,
  type RefValue,
  type StringValue,
  type Value,
} from './ast.js';
export { canonicalizeFrame } from './canonicalize.js';
export { explainFrame } from './explain.js';
export {
  type Dialect,
  isFrame,
  type ParseOptions,
  parseFrame,
  parseFrameEnvelope,
  tryParseFrame,
  tryParseFrameEnvelope,
} from './parse.js';
export { type PrintOptions, printFrame } from './print.js';
export { type Visit, type Visitor, walkFrame } from './walk.js';
