/** AACP packets (draft-mackay-aacp-01): parse, print, canonicalize, validate, explain, walk. Portable: needs no package and no built-in module of Node. */
export type { SourceName } from '../text/code-frame.js';
export { type Diagnostic, formatDiagnostic, type Severity } from '../text/diagnostic.js';
export type { Result } from '../text/errors.js';
export { type ErrorJson, ParseError, type ParseReason, PegwireError, PrintError } from '../text/errors.js';
export type { Limits } from '../text/limits.js';
export type { Span } from '../text/span.js';
export type { Field, Packet } from './ast.js';
export { type PacketVisitor, walkPacket } from './ast.js';
export type { ParseCode, Profile, ValidationCode } from './codes.js';
export { explainPacket } from './explain.js';
export { type Dialect, isPacket, type ParseOptions, parsePacket, tryParsePacket } from './parse.js';
export { canonicalizePacket, printPacket } from './print.js';
export { type PacketDiagnostic, type ValidateOptions, type ValidationResult, validatePacket } from './validate.js';
export { CORE_KEYS, DOMAINS, EXTENDED_KEYS, PRIORITIES, TASKS, VERSION } from './vocabulary.js';
