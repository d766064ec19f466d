/** ARCP runtimes: public as `pegwire/arcp/runtime`. */
export { type MemoryStoreOptions, memoryStore } from '../store/memory.js';
export { type SqliteStoreOptions, sqliteStore } from '../store/sqlite.js';
export * from '../store/store.js';
export { type Authenticate, anonymous, bearer, type Identity, type Peer } from './auth.js';
export type { CheckpointOptions, Handler, JobContext, ToolOptions, WorkOptions } from './contract.js';
export type { RetryPolicy } from './jobs/retry.js';
export type { Capabilities } from './negotiate.js';
export { createRuntime, type Runtime, type RuntimeLimits, type RuntimeOptions, type WorkerOptions } from './runtime.js';
