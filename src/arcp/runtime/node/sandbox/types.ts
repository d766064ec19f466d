/** What a sandbox is made of, and what its tool is given. */
import type { JobContext } from '../../types.js';
import type { Brokered } from '../broker.js';

export interface SandboxOptions {
  /**
   * Files and folders that it may read by itself, besides its own module: what that imports belongs here, too. Links in them are followed
   * wherever they lead. @default none
   */
  readonly read?: readonly (string | URL)[] | undefined;
  /** Files and folders that it may write by itself. What it is to read as well stands in both. @default none */
  readonly write?: readonly (string | URL)[] | undefined;
  /** Variables of the environment that it is given, by their names. @default none */
  readonly env?: readonly string[] | undefined;
  /** What it reaches through the runtime, behind permissions, as `context.broker`: what `createBroker` makes. @default nothing */
  readonly broker?: ((context: JobContext) => Brokered) | undefined;
  /** Other tools that it may call. They run where they do, with the trust and the grants of its job. @default none */
  readonly tools?: readonly string[] | undefined;
  /** Mebibytes of its heap; what buffers hold is not counted. @default 256 */
  readonly memoryMb?: number | undefined;
  /** Milliseconds for a call, from the start of its process on. @default no bound but that of the tool */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds that it may go on after it was cancelled, before it is killed. @default 1000 */
  readonly killGraceMs?: number | undefined;
  /** Calls at a time; others wait. One that waits for a permission keeps its process. @default 8 */
  readonly processes?: number | undefined;
  /** Most bytes of what it says at once: of its result, for one. @default 32 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** Most bytes of what it prints that are logged, of stdout and of stderr each. @default 1 MiB */
  readonly maxOutputBytes?: number | undefined;
  /**
   * A program that starts it, with its arguments, and isolates it as Node cannot: `['unshare', '--map-root-user', '--net']` leaves it no network.
   * @default none
   */
  readonly wrapper?: readonly string[] | undefined;
}

/** Options with nothing left open. */
export type SandboxSettings = {
  readonly [Name in Exclude<keyof SandboxOptions, 'broker' | 'timeoutMs'>]-?: NonNullable<SandboxOptions[Name]>;
} & Pick<SandboxOptions, 'broker' | 'timeoutMs'> & {
    /** The path of the module. */
    readonly module: string;
    /** Turns on Node's permission model. */
    readonly flag: string;
  };

/** Of what other handlers are given, what can be had from another process. */
export interface SandboxContext
  extends Pick<
    JobContext,
    | ('jobId' | 'commandId' | 'sessionId' | 'principal' | 'trust' | 'attempt' | 'signal' | 'traceId' | 'spanId')
    | ('restored' | 'operationKey' | 'traceparent')
    | ('progress' | 'log' | 'metric' | 'emit' | 'stream' | 'incoming' | 'checkpoint' | 'permission' | 'step')
  > {
  /** @throws ArcpError `PERMISSION_DENIED` for a tool that the sandbox was not given */
  readonly call: <R = unknown>(tool: string, args?: Readonly<Record<string, unknown>>) => Promise<R>;
  /**
   * Files, the network and programs through the runtime. Responses are read to their end before they are given.
   *
   * @throws ArcpError `PERMISSION_DENIED` where the sandbox was given none
   */
  readonly broker: Brokered;
}

/** What a module of a sandboxed tool exports by default. */
export type SandboxedTool = (input: Readonly<Record<string, unknown>>, context: SandboxContext) => unknown;
