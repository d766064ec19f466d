/** The types of sandboxes: their options, and the context of their tools. */
import type { JobContext } from '../../types.js';
import type { BrokerServices } from '../broker.js';

/** Options of a sandbox. */
export interface SandboxOptions {
  /** The readable files and folders besides the module, including all that it imports. Links in them are followed. @default none */
  readonly read?: readonly (string | URL)[] | undefined;
  /** The writable files and folders. They are readable only if they are also in `read`. @default none */
  readonly write?: readonly (string | URL)[] | undefined;
  /** The names of the environment variables that the process receives. @default none */
  readonly env?: readonly string[] | undefined;
  /** The broker of `context.broker`, which runs in the runtime: the result of `createBroker`. @default none */
  readonly broker?: ((context: JobContext) => BrokerServices) | undefined;
  /** The tools that the tool may call. They run outside the sandbox, with the trust and permissions of the job. @default none */
  readonly tools?: readonly string[] | undefined;
  /** The largest heap in MiB, without buffers. @default 256 */
  readonly memoryMb?: number | undefined;
  /** Milliseconds for a call, including the start of the process. @default Infinity */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds between the cancellation of a call and the kill of its process; 0 kills at once, `Infinity` never. @default 1000 */
  readonly killGraceMs?: number | undefined;
  /** The number of concurrent calls, including those that wait for a permission. @default 8 */
  readonly concurrency?: number | undefined;
  /** The longest message of the process in bytes, such as its result. @default 33554432 (32 MiB) */
  readonly maxMessageBytes?: number | undefined;
  /** The maximum output to log, in bytes, for stdout and stderr each. @default 1048576 (1 MiB) */
  readonly maxOutputBytes?: number | undefined;
  /** A command that starts the process with further isolation: `['unshare', '--map-root-user', '--net']` removes the network. @default none */
  readonly wrapper?: readonly string[] | undefined;
}

/** The options with their defaults. */
export type SandboxSettings = {
  readonly [Name in Exclude<keyof SandboxOptions, 'broker' | 'timeoutMs'>]-?: NonNullable<SandboxOptions[Name]>;
} & Pick<SandboxOptions, 'broker' | 'timeoutMs'> & {
    /** The path of the module. */
    readonly module: string;
    /** The flag that enables the permission model of Node. */
    readonly flag: string;
  };

/** The context of a sandboxed tool: the part of {@link JobContext} that works across processes. */
export interface SandboxContext
  extends Pick<
    JobContext,
    | ('jobId' | 'commandId' | 'sessionId' | 'principal' | 'trust' | 'attempt' | 'signal' | 'traceId' | 'spanId')
    | ('restored' | 'operationKey' | 'traceparent')
    | ('progress' | 'log' | 'metric' | 'emit' | 'stream' | 'incoming' | 'checkpoint' | 'permission' | 'step')
  > {
  /** Calls a tool outside the sandbox. @throws ArcpError `PERMISSION_DENIED` if it is not in `tools` */
  readonly call: <R = unknown>(tool: string, args?: Readonly<Record<string, unknown>>) => Promise<R>;
  /** The services of the broker. Responses are read completely before they are returned. Calls throw `PERMISSION_DENIED` without a broker. */
  readonly broker: BrokerServices;
}

/** The default export of a sandboxed module. */
export type SandboxedTool = (input: Readonly<Record<string, unknown>>, context: SandboxContext) => unknown;
