/** Whether steps can be put in an order. */
import type * as z from 'zod';
import { ArcpError } from '../../protocol/errors.js';
import type { workflowStepSchema } from '../../protocol/payloads/workflow.js';

export type Step = z.output<typeof workflowStepSchema>;

/** Most steps of one workflow. */
const MOST = 1000;

/** @throws ArcpError `INVALID_ARGUMENT` where two have one name, or one needs what there is not, or itself by way of others */
export function assertSound(steps: readonly Step[]): void {
  if (steps.length > MOST) throw unsound(`there are ${steps.length}, and ${MOST} at most`);
  const byId = new Map(steps.map((step) => [step.id, step]));
  if (byId.size < steps.length) {
    const twice = steps.find(({ id }, at) => steps.findIndex((other) => other.id === id) < at)!;
    throw unsound(`there are two steps ${twice.id}`);
  }
  for (const { id, needs = [] } of steps)
    for (const needed of needs) if (!byId.has(needed)) throw unsound(`step ${id} needs ${needed}, which there is not`);
  const done = new Set<string>();
  let rest = steps;
  while (rest.length > 0) {
    const ready = rest.filter(({ needs = [] }) => needs.every((id) => done.has(id)));
    if (ready.length === 0) throw unsound(`steps need each other: ${rest.map(({ id }) => id).join(', ')}`);
    for (const { id } of ready) done.add(id);
    rest = rest.filter(({ id }) => !done.has(id));
  }
}

function unsound(why: string): ArcpError {
  return new ArcpError('INVALID_ARGUMENT', `The steps are no workflow: ${why}`, {
    details: { issues: [{ path: 'payload.steps', message: why }] },
  });
}
