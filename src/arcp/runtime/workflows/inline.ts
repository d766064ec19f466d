/** Workflows whose steps come with the command (spec 003, "Multi-Agent Coordination": "distributed workflows"). */
import { ArcpError, asArcpError } from '../../protocol/errors.js';
import type { JobContext, Work } from '../contract.js';
import type { StartingCommand } from '../jobs/spec.js';
import { assertSound, type Step } from './graph.js';
import { isWanted, resolve, type Scope } from './references.js';

/**
 * The steps of a command as a workflow: each begins when those that it needs are done, and gets what they have made.
 *
 * @returns `undefined` for a command without steps
 * @throws ArcpError `INVALID_ARGUMENT` on steps that need each other, or what there is not
 */
export function inlineWorkflow(command: StartingCommand): Work | undefined {
  if (command.type !== 'workflow.start' || command.payload.steps === undefined) return undefined;
  const { workflow, steps } = command.payload;
  assertSound(steps);
  return {
    ...{ kind: 'workflow', name: workflow, options: { isPublic: true } },
    handler: (inputs, context) => new Run(steps, inputs as Readonly<Record<string, unknown>>, context).outputs(),
  };
}

/** One run through the steps. What was done in an attempt before is not done again. */
class Run {
  readonly #steps: readonly Step[];
  readonly #context: JobContext;
  readonly #scope: { readonly inputs: Scope; readonly steps: Record<string, unknown> };
  readonly #skipped = new Set<string>();
  #error: ArcpError | undefined;

  constructor(steps: readonly Step[], inputs: Scope, context: JobContext) {
    this.#steps = steps;
    this.#context = context;
    this.#scope = { inputs, steps: Object.create(null) as Record<string, unknown> };
  }

  /** @returns the results of the steps, by their ids; those that were left out have none */
  async outputs(): Promise<Readonly<Record<string, unknown>>> {
    const done = new Map<string, Promise<void>>();
    // Steps stand in any order: each waits for those it needs, of which none waits for it.
    const finish = (step: Step): Promise<void> => {
      const known = done.get(step.id);
      if (known !== undefined) return known;
      const needed = (step.needs ?? []).map((id) => finish(this.#steps.find((one) => one.id === id)!));
      const promise = Promise.all(needed).then(() => this.#do(step));
      done.set(step.id, promise);
      return promise;
    };
    await Promise.all(this.#steps.map(finish));
    if (this.#error !== undefined) throw this.#error;
    return { ...this.#scope.steps };
  }

  /** Never rejects: what runs beside a step that has failed is let finish, and nothing else begins. */
  async #do(step: Step): Promise<void> {
    if (this.#error !== undefined) return;
    try {
      if ((step.needs ?? []).some((id) => this.#skipped.has(id)) || !isWanted(step.when, this.#scope)) {
        this.#skipped.add(step.id);
        await this.#told(step, 'skipped');
        return;
      }
      await this.#told(step, 'started');
      this.#scope.steps[step.id] = (await this.#carryOut(step)) ?? null;
      await this.#told(step, 'completed');
    } catch (thrown) {
      const error = asArcpError(thrown);
      this.#error ??= new ArcpError(error.code, `Step ${step.id}: ${error.message}`, {
        ...{ retryable: error.retryable, details: { ...error.details, step: step.id }, cause: error },
      });
      await this.#told(step, 'failed').catch(() => {});
    }
  }

  async #carryOut({ id, tool, agent, workflow, arguments: given = {} }: Step): Promise<unknown> {
    const args = resolve(given, this.#scope) as Readonly<Record<string, unknown>>;
    const { call, delegate, startWorkflow } = this.#context;
    if (tool !== undefined) return call(tool, args, { key: id });
    if (workflow !== undefined) return (await startWorkflow(workflow, args, { key: id })).result();
    const { task, ...rest } = args;
    const job = await delegate(agent!, typeof task === 'string' ? task : id, { arguments: rest, key: id });
    return job.result();
  }

  #told({ id }: Step, status: string): Promise<void> {
    return this.#context.emit('arcp.workflow.step', { id, status });
  }
}
