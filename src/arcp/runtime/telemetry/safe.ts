/** Telemetry that fails must not take work down with it. */
import { safely } from '../../../async/safely.js';
import type { Telemetry, TelemetrySpan } from './contract.js';

/** A span that nobody knows of. */
const NOBODYS: TelemetrySpan = { spanId: '', event: () => {}, end: () => {} };

export function safeTelemetry(telemetry: Telemetry): Telemetry {
  return {
    startSpan: (name, begun) => {
      let span = NOBODYS;
      safely(() => {
        span = telemetry.startSpan(name, begun);
      });
      return {
        spanId: span.spanId,
        event: (...event) => safely(() => span.event(...event)),
        end: (ended) => safely(() => span.end(ended)),
      };
    },
    metric: (metric) => safely(() => telemetry.metric(metric)),
  };
}
