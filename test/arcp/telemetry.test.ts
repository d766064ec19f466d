import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as api from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ArcpError, type Envelope } from '../../src/arcp/index.js';
import {
  createRuntime,
  memoryStore,
  openTelemetry,
  type Runtime,
  type Telemetry,
} from '../../src/arcp/runtime/index.js';
import { connectTo, deferred, type Wire } from './runtime/wire.js';

const spans = new InMemorySpanExporter();
const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 60_000 });
beforeAll(() => {
  api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  api.metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
});
afterAll(async () => {
  await reader.shutdown();
  api.trace.disable();
  api.metrics.disable();
});

const runtimes: Runtime[] = [];
afterEach(async () => {
  spans.reset();
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
});

async function opened(
  furnish: (runtime: Runtime) => Runtime,
  telemetry: Telemetry = openTelemetry(api),
): Promise<Wire> {
  const runtime = furnish(createRuntime({ telemetry }));
  runtimes.push(runtime);
  const wire = connectTo(runtime);
  await wire.open();
  return wire;
}

const CALLER = { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16) };

async function run(wire: Wire, tool: string): Promise<Envelope> {
  const accepted = await wire.answer('job.accepted', wire.send('tool.invoke', { tool }, CALLER));
  return wire.untilEnded(accepted.payload.job_id!);
}

/** Collects the metrics. Returns the values of the latest collection by name and attributes. */
async function observed(): Promise<Record<string, Record<string, unknown>>> {
  measured.reset();
  await reader.forceFlush();
  const all = measured.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
  return Object.fromEntries(
    all.map(({ descriptor, dataPoints }) => [
      descriptor.name,
      Object.fromEntries(dataPoints.map(({ attributes, value }) => [JSON.stringify(attributes), value])),
    ]),
  );
}

describe('OpenTelemetry', () => {
  test('receives each attempt and its spans, in the trace of the command', async () => {
    const wire = await opened((runtime) =>
      runtime.tool('work', { durable: true }, (_, { span }) =>
        span('outer', (outer) => {
          outer.event('half', { at: 1 });
          outer.set({ rows: 3, list: [1] });
          return outer.span('inner', () => 1, { kind: 'client' });
        }),
      ),
    );
    await run(wire, 'work');
    const [inner, outer, attempt] = spans.getFinishedSpans();
    expect([inner, outer, attempt].map((span) => span!.name)).toEqual(['inner', 'outer', 'tool work']);
    for (const span of [inner, outer, attempt]) expect(span!.spanContext().traceId).toBe(CALLER.trace_id);
    expect(attempt!.parentSpanContext?.spanId).toBe(CALLER.span_id);
    expect(outer!.parentSpanContext?.spanId).toBe(attempt!.spanContext().spanId);
    expect(inner!.parentSpanContext?.spanId).toBe(outer!.spanContext().spanId);
    expect(attempt).toMatchObject({ kind: api.SpanKind.SERVER, status: { code: api.SpanStatusCode.OK } });
    expect(attempt!.attributes).toMatchObject({
      'arcp.tool': 'work',
      'arcp.job.attempt': 1,
      'arcp.principal': 'local',
    });
    expect(outer).toMatchObject({
      attributes: { rows: 3, list: '[1]' },
      events: [{ name: 'half', attributes: { at: 1 } }],
    });
    expect(inner!.kind).toBe(api.SpanKind.CLIENT);
    // The spans have the same ids in messages.
    const told = wire.heard.filter(({ type }) => type === 'trace.span').map(({ span_id: id }) => id);
    expect(told).toEqual([inner, outer].map((span) => span!.spanContext().spanId));
  });

  test('receives failures, attempt by attempt', async () => {
    const wire = await opened((runtime) =>
      runtime.tool('flaky', { durable: true, retry: { maxAttempts: 2, backoffMs: 0 } }, (_, { attempt }) => {
        if (attempt === 1) throw new ArcpError('UNAVAILABLE', 'not yet');
        return 'done';
      }),
    );
    expect(await run(wire, 'flaky')).toMatchObject({ type: 'job.completed' });
    expect(spans.getFinishedSpans().map(({ status }) => status)).toEqual([
      { code: api.SpanStatusCode.ERROR, message: 'UNAVAILABLE: not yet' },
      { code: api.SpanStatusCode.OK },
    ]);
  });

  test('receives metrics by their kind', async () => {
    const wire = await opened((runtime) =>
      runtime.tool('measure', { durable: true }, async (_, { metric }) => {
        for (const value of [2, 3])
          await metric({ name: 'rows.read', value, kind: 'counter', unit: 'rows', dims: { table: 'a' } });
        await metric({ name: 'load', value: 0.5 });
        await metric({ name: 'took', value: 12, kind: 'histogram' });
      }),
    );
    await run(wire, 'measure');
    await reader.forceFlush();
    const found = measured.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
    const points = Object.fromEntries(found.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints[0]]));
    expect(points['rows.read']).toMatchObject({ value: 5, attributes: { table: 'a' } });
    expect(points['load']).toMatchObject({ value: 0.5 });
    expect(points['took']).toMatchObject({ value: { count: 1, sum: 12 } });
  });

  test('observes the queues, jobs and connections of runtimes, whenever it collects', async () => {
    const held = deferred();
    const store = memoryStore();
    const shared = { ...store, close: async () => {} };
    const options = { telemetry: openTelemetry(api), workers: { concurrency: 1 } };
    const east = createRuntime({ store: shared, name: 'east', ...options });
    const west = createRuntime({
      store: shared,
      name: 'west',
      telemetry: openTelemetry(api),
      workers: { queues: ['slow'] },
    });
    runtimes.push(east, west);
    east.tool('work', { durable: true }, () => held.promise).tool('render', { durable: true, queue: 'gpu' }, () => 1);
    west.start();
    const wire = connectTo(east);
    await wire.open();
    const jobs = [await wire.startJob('work'), await wire.startJob('work'), await wire.startJob('render')];
    await store.claimJobs({ worker: 'worker_gone', queues: ['gpu'], leaseMs: 0, limit: 1 });
    expect(await observed()).toMatchObject({
      'arcp.runtimes': { '{"state":"running"}': 2, '{"state":"draining"}': 0, '{"state":"lost"}': 0 },
      'arcp.queue.waiting': { '{"queue":"default"}': 1, '{"queue":"slow"}': 0 },
      'arcp.queue.oldest_wait': { '{"queue":"default"}': expect.any(Number), '{"queue":"slow"}': 0 },
      'arcp.queue.runtimes': { '{"queue":"default"}': 1, '{"queue":"slow"}': 1 },
      'arcp.leases.expired': { '{}': 1 },
      'arcp.runtime.jobs': { '{"runtime":"east"}': 1, '{"runtime":"west"}': 0 },
      'arcp.runtime.connections': { '{"runtime":"east"}': 1, '{"runtime":"west"}': 0 },
      'arcp.runtime.unread': { '{"runtime":"east"}': 0, '{"runtime":"west"}': 0 },
    });
    held.resolve();
    for (const { jobId } of jobs.slice(0, 2)) await wire.untilEnded(jobId);
    // A queue that nothing uses any more is reported as empty.
    await west.close();
    expect(await observed()).toMatchObject({
      'arcp.runtimes': { '{"state":"running"}': 1 },
      'arcp.queue.waiting': { '{"queue":"default"}': 0, '{"queue":"slow"}': 0 },
      'arcp.queue.runtimes': { '{"queue":"default"}': 1, '{"queue":"slow"}': 0 },
      'arcp.runtime.jobs': { '{"runtime":"east"}': 0 },
    });
  });

  test('that fails does not affect jobs', async () => {
    const broken = (): never => {
      throw new Error('the exporter is broken');
    };
    const wire = await opened(
      (runtime) => runtime.tool('work', { durable: true }, (_, { span }) => span('inner', ({ spanId }) => spanId)),
      { startSpan: broken, metric: broken, observe: broken },
    );
    expect(await run(wire, 'work')).toMatchObject({ payload: { result: expect.stringMatching(/^[0-9a-f]{16}$/) } });
  });
});

/** A collector, with the requests that it received by path (OpenTelemetry, "OTLP/HTTP Request"). */
async function collector() {
  const posted = new Map<string, unknown[]>();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(pieces).toString()) as unknown;
      posted.set(request.url!, [...(posted.get(request.url!) ?? []), body]);
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { posted, url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

test('a collector receives spans and metrics over HTTP from the exporters of OpenTelemetry', async () => {
  const { posted, url, close } = await collector();
  const exporter = new OTLPTraceExporter({ url: `${url}/v1/traces` });
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const metricExporter = new OTLPMetricExporter({ url: `${url}/v1/metrics` });
  const ownReader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 60_000 });
  const meters = new MeterProvider({ readers: [ownReader] });
  const trace = { ...api.trace, getTracer: tracers.getTracer.bind(tracers) };
  const metrics = { ...api.metrics, getMeter: meters.getMeter.bind(meters) };
  const telemetry = openTelemetry({ ...api, trace, metrics } as unknown as typeof api);
  const wire = await opened(
    (runtime) =>
      runtime.tool('work', { durable: true }, async (_, { span, metric }) => {
        await span('part', () => 1);
        await metric({ name: 'rows', value: 7, kind: 'counter' });
      }),
    telemetry,
  );
  await run(wire, 'work');
  await Promise.all([tracers.shutdown(), meters.shutdown()]);
  close();
  const told = JSON.stringify(posted.get('/v1/traces'));
  expect(told).toContain(`"traceId":"${CALLER.trace_id}"`);
  expect(told).toContain(`"parentSpanId":"${CALLER.span_id}"`);
  for (const name of ['tool work', 'part']) expect(told).toContain(`"name":"${name}"`);
  expect(JSON.stringify(posted.get('/v1/metrics'))).toMatch(/"name":"rows".*"as(?:Int|Double)":"?7/);
});
