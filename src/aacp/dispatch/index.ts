/** From received packets to the code that acts on them (draft-mackay-aacp-01, section 15). Public as `pegwire/aacp/dispatch`. */
export type { Diagnostic } from '../../text/diagnostic.js';
export { type ErrorJson, PegwireError } from '../../text/errors.js';
export type { Field, Packet } from '../ast.js';
export type { ValidationCode } from '../codes.js';
export type { PacketDiagnostic, ValidateOptions } from '../validate.js';
export type { Audit, AuditEntry, AuditEvent, AuditRecord } from './audit.js';
export { AuditError, type AuditErrorCode, type AuditOptions, type MemoryAudit, memoryAudit } from './audit.js';
export type { Delivery, DispatchContext, Handler, HandlerOptions, Handlers } from './dispatcher.js';
export {
  createDispatcher,
  type Dispatcher,
  type DispatcherOptions,
  type DispatchFinding,
  type DispatchReason,
  type DispatchResult,
  type Handled,
  type Refusal,
} from './dispatcher.js';
export type { ExactReason } from './exact.js';
export type { WideModeNotice } from './file-audit.js';
export {
  type AuditNotice,
  type FileAudit,
  type FileAuditOptions,
  fileAudit,
  type TornEndNotice,
  verifyAuditFile,
} from './file-audit.js';
export {
  type Admission,
  type Envelope,
  type ReplayGuard,
  type ReplayGuardOptions,
  type ReplayReason,
  replayGuard,
} from './replay-guard.js';
export { type SanitizeOptions, sanitizeForPrompt } from './sanitize.js';
export {
  type AuditFault,
  type AuditFaultReason,
  type AuditVerification,
  type VerifyOptions,
  verifyAudit,
} from './verify-audit.js';
