/** The effects of jobs in the outside world, as the service that has them records them. */
import process from 'node:process';

export interface Effect {
  readonly jobId: string;
  /** The operation key of the step. */
  readonly operation: string;
  readonly runtime: string;
  readonly attempt: number;
  /** Milliseconds of the monotonic clock of the machine, which all processes share. */
  readonly at: number;
}

export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
