/** ARCP runtimes, wherever they run. Public as `pegwire/arcp/runtime/portable`. */
export { type ErrorJson, PegwireError } from '../../text/errors.js';
export { type MemoryStoreOptions, memoryStore } from '../store/memory.js';
export * from '../store/store.js';
export { type Authenticate, anonymous, bearer, type Identity, type Peer } from './auth.js';
export type {
  CallOptions,
  ChildJob,
  ChildOptions,
  DelegateOptions,
  HandedOver,
  HandoffOptions,
} from './children/contract.js';
export type { AgentInput, CheckpointOptions, Handler, JobContext, ToolOptions, WorkOptions } from './contract.js';
export type { RetryPolicy } from './jobs/retry.js';
export type { Values } from './jobs/values.js';
export type { Capabilities } from './negotiate.js';
export type { Lease, PermissionWish } from './permissions/contract.js';
export {
  type Asking,
  DEFAULT_RULES,
  type Decision,
  definePolicy,
  type Policy,
  type PolicyOptions,
  type Rules,
} from './permissions/policy.js';
export type { Scope } from './permissions/scope.js';
export {
  createRuntime,
  type Runtime,
  type RuntimeCancel,
  type RuntimeLimits,
  type RuntimeOptions,
  type WorkerOptions,
} from './runtime.js';
export type {
  BegunSpan,
  Span,
  SpanKind,
  SpanOptions,
  Telemetry,
  TelemetryMetric,
  TelemetrySpan,
} from './telemetry/contract.js';
export { type OpenTelemetryApi, openTelemetry } from './telemetry/open-telemetry.js';
