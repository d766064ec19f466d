/** ARCP runtimes, wherever they run. Public as `pegwire/arcp/runtime/portable`. */
export { type ErrorJson, PegwireError } from '../../text/errors.js';
export { type MemoryStoreOptions, memoryStore } from '../store/memory.js';
export * from '../store/store.js';
export {
  type Asking,
  DEFAULT_RULES,
  type Decision,
  definePolicy,
  type Policy,
  type PolicyOptions,
  type Rules,
} from './permissions/policy.js';
export {
  createRuntime,
  type Runtime,
  type RuntimeCancel,
  type RuntimeLimits,
  type RuntimeOptions,
  type WorkerOptions,
} from './runtime.js';
export { type Authenticate, anonymous, bearer, type Identity, type Peer } from './sessions/auth.js';
export type { Capabilities } from './sessions/session.js';
export { type OpenTelemetryApi, openTelemetry } from './telemetry.js';
export type {
  AgentInput,
  BegunSpan,
  CallOptions,
  CheckpointOptions,
  ChildJob,
  ChildOptions,
  DelegateOptions,
  HandedOver,
  Handler,
  HandoffOptions,
  JobContext,
  Lease,
  PermissionWish,
  RetryPolicy,
  Scope,
  Span,
  SpanKind,
  SpanOptions,
  Telemetry,
  TelemetryMetric,
  TelemetrySpan,
  ToolOptions,
  Values,
  WorkOptions,
} from './types.js';
