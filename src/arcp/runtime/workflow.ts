/** Workflows whose steps are part of the command (spec 003, "Multi-Agent Coordination": "distributed workflows"). */
import type * as z from 'zod';
import { ArcpError, asArcpError } from '../protocol/errors.js';
import type { workflowStepSchema } from '../protocol/payloads/execution.js';
import type { StartingCommand } from './job/spec.js';
import type { JobContext, Registration } from './types.js';

/** Converts the steps of a command to a workflow. @throws ArcpError `INVALID_ARGUMENT` if the steps are invalid */
export function inlineWorkflow(command: StartingCommand): Registration | undefined {
  if (command.type !== 'workflow.start' || command.payload.steps === undefined) return undefined;
  const { workflow, steps } = command.payload;
  assertValid(steps);
  return {
    kind: 'workflow',
    name: workflow,
    options: { isPublic: true },
    handler: (inputs, context) => new Run(steps, inputs as Readonly<Record<string, unknown>>, context).outputs(),
  };
}

/** One run of the steps. Steps of earlier attempts are not repeated. */
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

  /** Runs the steps. @returns their results by id, without those of skipped steps */
  async outputs(): Promise<Readonly<Record<string, unknown>>> {
    const done = new Map<string, Promise<void>>();
    // Steps may be in any order; their dependencies have no cycles.
    const finish = (step: Step): Promise<void> => {
      const known = done.get(step.id);
      if (known !== undefined) return known;
      const needed = (step.needs ?? []).map((id) => finish(this.#steps.find((one) => one.id === id)!));
      const promise = Promise.all(needed).then(() => this.#runStep(step));
      done.set(step.id, promise);
      return promise;
    };
    await Promise.all(this.#steps.map(finish));
    if (this.#error !== undefined) throw this.#error;
    return { ...this.#scope.steps };
  }

  /** Runs one step. Never rejects: after a failure, running steps finish, and no others start. */
  async #runStep(step: Step): Promise<void> {
    if (this.#error !== undefined) return;
    try {
      if ((step.needs ?? []).some((id) => this.#skipped.has(id)) || !isConditionMet(step.when, this.#scope)) {
        this.#skipped.add(step.id);
        await this.#report(step, 'skipped');
        return;
      }
      await this.#report(step, 'started');
      this.#scope.steps[step.id] = (await this.#execute(step)) ?? null;
      await this.#report(step, 'completed');
    } catch (thrown) {
      const error = asArcpError(thrown);
      this.#error ??= new ArcpError(error.code, `Step ${step.id}: ${error.message}`, {
        retryable: error.retryable,
        details: { ...error.details, step: step.id },
        cause: error,
      });
      await this.#report(step, 'failed').catch(() => {});
    }
  }

  async #execute({ id, tool, agent, workflow, arguments: given = {} }: Step): Promise<unknown> {
    const args = resolve(given, this.#scope) as Readonly<Record<string, unknown>>;
    const { call, delegate, startWorkflow } = this.#context;
    if (tool !== undefined) return call(tool, args, { key: id });
    if (workflow !== undefined) return (await startWorkflow(workflow, args, { key: id })).result();
    const { task, ...rest } = args;
    const job = await delegate(agent!, typeof task === 'string' ? task : id, { arguments: rest, key: id });
    return job.result();
  }

  #report({ id }: Step, status: string): Promise<void> {
    return this.#context.emit('arcp.workflow.step', { id, status });
  }
}

export type Scope = Readonly<Record<string, unknown>>;

interface Names {
  readonly inputs: Scope;
  readonly steps: Scope;
}

/** Resolves all references in a value. @throws ArcpError `INVALID_ARGUMENT` for an unknown one */
export function resolve(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(item, names));
  if (typeof value !== 'object' || value === null) return value;
  const path = referenceOf(value);
  if (path !== undefined) return lookUp(path, names);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner, names)]));
}

/** Returns whether there is no condition, or its value is truthy. */
export function isConditionMet(when: unknown, names: Names): boolean {
  return when === undefined || Boolean(resolve(when, names));
}

function referenceOf(value: object): string | undefined {
  const keys = Object.keys(value);
  const path = keys.length === 1 && keys[0] === '$from' ? (value as { readonly $from: unknown }).$from : undefined;
  return typeof path === 'string' ? path : undefined;
}

function lookUp(path: string, names: Names): unknown {
  let found: unknown = names;
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name))
      throw new ArcpError(
        'INVALID_ARGUMENT',
        `The reference ${path} cannot be resolved: ${JSON.stringify(name)} does not exist`,
      );
    found = (found as Scope)[name];
  }
  return found;
}

export type Step = z.output<typeof workflowStepSchema>;

const MAX_STEPS = 1000;

function assertValid(steps: readonly Step[]): void {
  if (steps.length > MAX_STEPS) throw invalidSteps(`there are ${steps.length} steps; at most ${MAX_STEPS} are allowed`);
  const byId = new Map(steps.map((step) => [step.id, step]));
  if (byId.size < steps.length) {
    const twice = steps.find(({ id }, at) => steps.findIndex((other) => other.id === id) < at)!;
    throw invalidSteps(`the step id ${twice.id} is not unique`);
  }
  for (const { id, needs = [] } of steps)
    for (const needed of needs)
      if (!byId.has(needed)) throw invalidSteps(`step ${id} needs ${needed}, which does not exist`);
  const done = new Set<string>();
  let rest = steps;
  while (rest.length > 0) {
    const ready = rest.filter(({ needs = [] }) => needs.every((id) => done.has(id)));
    if (ready.length === 0) throw invalidSteps(`steps depend on each other: ${rest.map(({ id }) => id).join(', ')}`);
    for (const { id } of ready) done.add(id);
    rest = rest.filter(({ id }) => !done.has(id));
  }
}

function invalidSteps(why: string): ArcpError {
  return new ArcpError('INVALID_ARGUMENT', `Invalid workflow steps: ${why}`, {
    details: { issues: [{ path: 'payload.steps', message: why }] },
  });
}
