/** Telemetry that fails must not take work down with it. */
import { notifyListener } from '../../../async/listeners.js';
import type { Telemetry, TelemetrySpan } from './contract.js';

/** A span that nobody knows of. */
const NOBODYS: TelemetrySpan = { spanId: '', event: () => {}, end: () => {} };

export function safeTelemetry(telemetry: Telemetry): Telemetry {
  return {
    startSpan: (name, begun) => {
      let span = NOBODYS;
      notifyListener(() => {
        span = telemetry.startSpan(name, begun);
      });
      return {
        spanId: span.spanId,
        event: (...event) => notifyListener(() => span.event(...event)),
        end: (ended) => notifyListener(() => span.end(ended)),
      };
    },
    metric: (metric) => notifyListener(() => telemetry.metric(metric)),
  };
}
