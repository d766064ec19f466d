/** A service that recognizes operation keys, as the effects of jobs need it, and what was wrong with its calls. */

/** A call of the service by a step of a job. */
export interface EffectCall {
  readonly jobId: string;
  readonly step: number;
  readonly operation: string;
}

export class Sink {
  /** The effects, by operation key. */
  readonly effects = new Map<string, EffectCall>();
  /** The number of calls whose effect was there already. */
  repeated = 0;
  /** Calls that no kill explains. */
  readonly problems: string[] = [];
  readonly #lastSteps = new Map<string, number>();

  readonly call = (call: EffectCall): void => {
    const { jobId, step, operation } = call;
    const last = this.#lastSteps.get(jobId) ?? -1;
    // A job begins a step after the result of the one before is stored.
    if (step < last)
      this.problems.push(`${jobId}: step ${step} was called after step ${last}, although it was committed`);
    if (step > last + 1) this.problems.push(`${jobId}: step ${last + 1} was left out`);
    this.#lastSteps.set(jobId, Math.max(last, step));
    const known = this.effects.get(operation);
    if (known === undefined) this.effects.set(operation, call);
    else this.repeated++;
    if (known !== undefined && (known.jobId !== jobId || known.step !== step))
      this.problems.push(`${jobId}: step ${step} has the operation key of another step`);
  };
}
