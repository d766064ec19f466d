/** Metrics of a runtime and its store, for telemetry receivers that observe them (see `openTelemetry`). */
import type { ArcpStore } from '../store/store.js';
import { type StoreStatus, statusOf } from './status.js';
import type { ObservedMetric, TelemetryMetric } from './types.js';

/** The metrics of a store are those of all its runtimes, so that each runtime reports the same values. */
export const OBSERVED_METRICS = [
  { name: 'arcp.runtimes', description: 'Runtimes that use the store, by state' },
  { name: 'arcp.queue.waiting', description: 'Jobs that wait in a queue and are due' },
  { name: 'arcp.queue.oldest_wait', unit: 'ms', description: 'Time for which the first job of a queue has been due' },
  { name: 'arcp.queue.runtimes', description: 'Runtimes that start jobs of a queue' },
  { name: 'arcp.leases.expired', description: 'Jobs whose lease has expired' },
  { name: 'arcp.runtime.jobs', description: 'Jobs that this runtime runs' },
  { name: 'arcp.runtime.connections', description: 'Connections of this runtime' },
  { name: 'arcp.runtime.unread', description: 'Messages of other runtimes that this one has not read' },
] as const satisfies readonly ObservedMetric[];

type Name = (typeof OBSERVED_METRICS)[number]['name'];

interface Own {
  readonly worker: string;
  readonly name: string | undefined;
  readonly counts: () => { readonly jobs: number; readonly connections: number };
}

/** Returns a function that measures, which throws `StoreError` if the store cannot be read. */
export function meterOf(store: ArcpStore, own: Own): () => Promise<TelemetryMetric[]> {
  // Receivers repeat the last value of a queue that is not reported any more, which therefore has to be 0.
  const known = new Set<string>();
  return async () => {
    const status = await statusOf(store);
    for (const { queue } of status.queues) known.add(queue);
    const reported = new Set(status.queues.map(({ queue }) => queue));
    const gone = [...known].filter((queue) => !reported.has(queue));
    const empty = gone.map((queue) => ({ queue, queued: 0, due: 0, oldest: undefined, runtimes: 0 }));
    return metricsOf({ ...status, queues: [...status.queues, ...empty] }, own);
  };
}

function metricsOf({ at, runtimes, queues, expiredJobs }: StoreStatus, own: Own): TelemetryMetric[] {
  const { jobs, connections } = own.counts();
  const metric = (name: Name, value: number, dims: TelemetryMetric['dims'] = {}): TelemetryMetric => ({
    ...{ name, value, dims },
  });
  const runtime = { runtime: own.name ?? own.worker };
  return [
    ...(['running', 'draining', 'lost'] as const).map((state) =>
      metric('arcp.runtimes', runtimes.filter((one) => one.state === state).length, { state }),
    ),
    ...queues.flatMap(({ queue, due, oldest, runtimes: serving }) => [
      metric('arcp.queue.waiting', due, { queue }),
      metric('arcp.queue.oldest_wait', oldest === undefined ? 0 : at - oldest.dueAt, { queue }),
      metric('arcp.queue.runtimes', serving, { queue }),
    ]),
    metric('arcp.leases.expired', expiredJobs.length),
    metric('arcp.runtime.jobs', jobs, runtime),
    metric('arcp.runtime.connections', connections, runtime),
    metric('arcp.runtime.unread', runtimes.find(({ worker }) => worker === own.worker)?.unread ?? 0, runtime),
  ];
}
