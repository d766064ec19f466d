/** ARCP runtimes for any platform. Public as `pegwire/arcp/runtime/portable`. */
export { type ErrorJson, PegwireError } from '../../text/errors.js';
export { type MemoryStoreOptions, memoryStore } from '../store/memory.js';
export * from '../store/store.js';
export type { RuntimeCancelOptions, RuntimeLimits, RuntimeOptions, WorkerOptions } from './options.js';
export {
  DEFAULT_RULES,
  type Decision,
  definePolicy,
  type Policy,
  type PolicyOptions,
  type Requester,
  type Rules,
} from './permissions/policy.js';
export type { RuntimePresence } from './presence.js';
export { createRuntime, type Runtime } from './runtime.js';
export { type Authenticate, anonymous, bearer, type Identity, type Peer } from './sessions/auth.js';
export type { Capabilities } from './sessions/session.js';
export { type LeasedJob, type QueueStatus, type RuntimeStatus, type StoreStatus, statusOf } from './status.js';
export { type OpenTelemetryApi, openTelemetry } from './telemetry.js';
export type {
  AgentInput,
  CallOptions,
  CheckpointOptions,
  ChildJob,
  ChildOptions,
  DelegateOptions,
  Handler,
  HandlerOptions,
  Handoff,
  HandoffOptions,
  JobContext,
  JsonSchema,
  KeyValueStore,
  Lease,
  ObservedMetric,
  PermissionRequest,
  RetryPolicy,
  Scope,
  Span,
  SpanKind,
  SpanOptions,
  SpanStart,
  Telemetry,
  TelemetryMetric,
  TelemetrySpan,
  ToolOptions,
} from './types.js';
