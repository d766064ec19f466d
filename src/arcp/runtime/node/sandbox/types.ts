/** What a sandbox is made of, and what its tool is given. */
import type { JobContext } from '../../types.js';
import type { BrokerServices } from '../broker.js';

export interface SandboxOptions {
  /** Readable files and folders besides its own module, with everything that it imports. Links are followed anywhere. @default none */
  readonly read?: readonly (string | URL)[] | undefined;
  /** Writable files and folders, which are not readable unless in `read`, too. @default none */
  readonly write?: readonly (string | URL)[] | undefined;
  /** Names of environment variables to pass. @default none */
  readonly env?: readonly string[] | undefined;
  /** Services of the runtime behind permissions, as `context.broker`: a `createBroker`. @default none */
  readonly broker?: ((context: JobContext) => BrokerServices) | undefined;
  /** Tools that it may call, which run outside with the trust and grants of the job. @default none */
  readonly tools?: readonly string[] | undefined;
  /** Limit of the heap in MiB, buffers not counted. @default 256 */
  readonly memoryMb?: number | undefined;
  /** Milliseconds for a call, including the start of the process. @default Infinity */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds between cancellation and kill; 0 kills at once, `Infinity` never. @default 1000 */
  readonly killGraceMs?: number | undefined;
  /** Concurrent calls; one that waits for a permission counts. @default 8 */
  readonly concurrency?: number | undefined;
  /** Limit of one message of the process in bytes, such as its result. @default 32 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** Limit of logged output in bytes, for stdout and stderr each. @default 1 MiB */
  readonly maxOutputBytes?: number | undefined;
  /** A program that starts the process isolated: `['unshare', '--map-root-user', '--net']` removes the network. @default none */
  readonly wrapper?: readonly string[] | undefined;
}

/** The options with their defaults. */
export type SandboxSettings = {
  readonly [Name in Exclude<keyof SandboxOptions, 'broker' | 'timeoutMs'>]-?: NonNullable<SandboxOptions[Name]>;
} & Pick<SandboxOptions, 'broker' | 'timeoutMs'> & {
    /** The path of the module. */
    readonly module: string;
    /** Turns on Node's permission model. */
    readonly flag: string;
  };

/** The part of a job's context that works across processes. */
export interface SandboxContext
  extends Pick<
    JobContext,
    | ('jobId' | 'commandId' | 'sessionId' | 'principal' | 'trust' | 'attempt' | 'signal' | 'traceId' | 'spanId')
    | ('restored' | 'operationKey' | 'traceparent')
    | ('progress' | 'log' | 'metric' | 'emit' | 'stream' | 'incoming' | 'checkpoint' | 'permission' | 'step')
  > {
  /** @throws ArcpError `PERMISSION_DENIED` for a tool that is not in `tools` */
  readonly call: <R = unknown>(tool: string, args?: Readonly<Record<string, unknown>>) => Promise<R>;
  /** Services of the runtime; responses are read completely. @throws ArcpError `PERMISSION_DENIED` without a broker */
  readonly broker: BrokerServices;
}

/** The default export of a sandboxed module. */
export type SandboxedTool = (input: Readonly<Record<string, unknown>>, context: SandboxContext) => unknown;
