/** The five agents. Each has a dispatcher of its own, which validates and records a packet before the agent acts on it. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import {
  createDispatcher,
  type FileAudit,
  type Packet,
  replayGuard,
  sanitizeForPrompt,
  verifyAuditFile,
} from '../../../src/aacp/dispatch/index.js';
import { renderJson } from '../../../src/accp/render/index.js';
import { ArcpError } from '../../../src/arcp/index.js';
import type { JobContext, Runtime } from '../../../src/arcp/runtime/index.js';
import { PegwireError } from '../../../src/text/errors.js';
import { type AgentModel, jsonIn } from './models.js';
import {
  type Anomaly,
  type Budget,
  calculate,
  comparePay,
  type Employee,
  monthsOf,
  type PayLine,
  type Payroll,
  type Rules,
} from './payroll.js';
import { hundredths, LabError, readTable } from './tables.js';

export const DATA = new URL('data/', import.meta.url);

/** The result of a packet, without personal data, which stays in the memory of the session. */
export interface HopResult {
  readonly summary: string;
  /** The comparison of the model's reading with the packet; `null` if no model was asked. */
  readonly reading: 'matches' | 'differs' | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The employees that the model would review, if it was asked. */
  readonly found?: readonly string[];
}

/** The payroll that the workbook shows. */
export interface Report extends Payroll {
  readonly changes: Readonly<Record<string, number>>;
}

export interface AgentSetup {
  readonly audit: FileAudit;
  readonly auditFile: string;
  readonly model: AgentModel;
  /** The key of this run, which the agents share and which no packet carries. */
  readonly key: string;
  readonly writeReport: (report: Report, period: string) => Promise<void>;
  readonly recordFile: string;
}

/** The data that the orchestrator sends beside a packet, since AACP has no nonce, time or seal. */
export const envelopeSchema = z.object({ nonce: z.string(), sentAt: z.number(), seal: z.string() });

/** Seals a packet: the HMAC of its hash, its nonce and its time. */
export function sealOf(key: string, hash: string, { nonce, sentAt }: { nonce: string; sentAt: number }): string {
  return createHmac('sha256', key).update(`${hash}\n${nonce}\n${sentAt}`).digest('hex');
}

type Action = (packet: Packet, context: JobContext) => Promise<HopResult>;

/** The agents by name, each with the packets that it accepts. */
export const AGENTS = { HRMS: 'FETCH|HR', FIN: 'FETCH|FIN', PAY: 'MERGE|HR', RPT: 'REPORT|HR', AUD: 'LOG|HR' } as const;
export type AgentName = keyof typeof AGENTS;

/** Registers the agents with a runtime. */
export function registerAgents(runtime: Runtime, setup: AgentSetup): void {
  const acts: Readonly<Record<AgentName, Action>> = {
    HRMS: (packet, context) => fetchEmployees(packet, context, setup),
    FIN: (packet, context) => fetchBudgets(packet, context, setup),
    PAY: (packet, context) => merge(packet, context, setup),
    RPT: (packet, context) => report(packet, context, setup),
    AUD: (packet) => log(packet, setup),
  };
  for (const [name, act] of Object.entries(acts) as [AgentName, Action][]) registerAgent(runtime, name, act, setup);
}

function registerAgent(runtime: Runtime, name: AgentName, act: Action, { audit, key }: AgentSetup): void {
  const { dispatch } = createDispatcher<HopResult>({
    audit,
    replay: replayGuard(),
    handlers: {
      [AGENTS[name]]: (packet, { hash, context: { data, envelope } }) => {
        const { context, seal } = data as { readonly context: JobContext; readonly seal: string };
        const expected = sealOf(key, hash, envelope!);
        if (seal.length !== expected.length || !timingSafeEqual(Buffer.from(seal), Buffer.from(expected)))
          throw new LabError({
            code: 'seal-mismatch',
            message: `The packet is not the one that was sent: its seal does not match ${hash.slice(0, 12)}`,
          });
        return act(packet, context);
      },
    },
  });
  const description = `Handles ${AGENTS[name]}`;
  runtime.agent(
    name,
    { description, input: z.looseObject({ task: z.string(), envelope: envelopeSchema }) },
    async (input, context) => {
      const { nonce, sentAt, seal } = input.envelope;
      await context.progress({ percent: 0, message: `${name} has received a packet` });
      const result = await dispatch(input.task, {
        ...{ actor: 'ORCHESTRATOR', exact: true, envelope: { nonce, sentAt } },
        data: { context, seal },
      });
      if (!result.ok) throw refusal(result);
      if (result.auditError !== null)
        throw new ArcpError('FAILED_PRECONDITION', 'The outcome could not be recorded', {
          details: { reason: 'no-audit' },
        });
      await context.progress({ percent: 100, message: result.value.summary });
      return result.value;
    },
  );
}

/** Converts a refusal to the error that the orchestrator receives. `details.reason` is its stable code. */
function refusal({
  reason,
  errors,
  error,
  auditError,
}: {
  reason: string;
  errors: readonly { code: string; message: string }[];
  error?: unknown;
  auditError: unknown;
}): ArcpError {
  const first = errors[0];
  if (first !== undefined) return refused(first.code, `The packet is not valid: ${first.message}`);
  // Errors of the lab, of files and of models have stable codes.
  if (error instanceof PegwireError) return refused(error.code, error.message);
  const cause = (error ?? auditError) as Error | null | undefined;
  return refused(reason, `The packet was refused: ${cause?.message ?? reason}`);
}

function refused(reason: string, message: string): ArcpError {
  return new ArcpError('FAILED_PRECONDITION', message, { details: { reason } });
}

const readingSchema = z.object({
  task: z.string(),
  domain: z.string(),
  resource: z.string().nullable(),
  period: z.string().nullable(),
});

/** Asks the model of an agent for its reading of a packet, and compares its answer with the packet. The agent acts on the packet itself. */
async function readPacket(
  name: AgentName,
  packet: Packet,
  { signal }: JobContext,
  { model }: AgentSetup,
): Promise<Omit<HopResult, 'summary'>> {
  const expected = {
    task: packet.task,
    domain: packet.domain,
    resource: field(packet, 'res'),
    period: field(packet, 'period'),
  };
  const answer = await model.ask(
    {
      system: `You are the agent ${name} of a payroll. Reply with JSON alone: {"task", "domain", "resource", "period"} of the packet that you receive; null for what it does not have.`,
      prompt: sanitizeForPrompt(packet),
      standIn: () => expected,
    },
    signal,
  );
  const read = readingSchema.safeParse(jsonIn(answer.text));
  const isSame = read.success && JSON.stringify(read.data) === JSON.stringify(expected);
  return {
    reading: isSame ? 'matches' : 'differs',
    inputTokens: answer.inputTokens,
    outputTokens: answer.outputTokens,
  };
}

async function fetchEmployees(packet: Packet, context: JobContext, setup: AgentSetup): Promise<HopResult> {
  const reading = await readPacket('HRMS', packet, context, setup);
  const months = periodOf(packet);
  if (field(packet, 'filter') !== 'status=active') throw unsupported('filter', field(packet, 'filter'));
  const columns = ['emp_id', 'department', 'cost_centre', 'start_date', 'end_date', 'account'] as const;
  const all = readTable(new URL('employees.csv', DATA), columns, {
    ...{ key: ['emp_id'], dates: ['start_date', 'end_date'] },
  });
  const active = all.filter(
    ({ start_date: start, end_date: end }) =>
      start <= `${months.at(-1)}-31` && (end === '' || end >= `${months[0]}-01`),
  );
  const employees = active.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]])));
  await context.memory.set('employees', employees);
  return { ...reading, summary: `${employees.length} of ${all.length} employees are active in the period` };
}

async function fetchBudgets(packet: Packet, context: JobContext, setup: AgentSetup): Promise<HopResult> {
  const reading = await readPacket('FIN', packet, context, setup);
  periodOf(packet);
  const fields = (field(packet, 'fields') ?? '').split(',');
  const rows = readTable(new URL('budgets.csv', DATA), fields, { key: fields.slice(0, 1) });
  const budgets = rows.map((row) => Object.fromEntries(fields.map((name) => [name, row[name]!])));
  await context.memory.set('budgets', budgets);
  return { ...reading, summary: `${budgets.length} cost centres with ${fields.join(', ')}` };
}

async function merge(packet: Packet, context: JobContext, setup: AgentSetup): Promise<HopResult> {
  const reading = await readPacket('PAY', packet, context, setup);
  const months = periodOf(packet);
  const rules = rulesOf(field(packet, 'rules'));
  const employees = await context.memory.get<Employee[]>('employees');
  const budgets = await context.memory.get<Budget[]>('budgets');
  if (employees === undefined || budgets === undefined)
    throw new LabError({ code: 'missing-data', message: 'The employees and budgets were not fetched' });
  const stray = employees.find(({ cost_centre: own }) => budgets.every(({ cc_id: id }) => id !== own));
  if (stray !== undefined) {
    const message = `The cost centre ${stray.cost_centre} of ${stray.emp_id} is not in budgets.csv`;
    throw new LabError({ code: 'csv-invalid', message });
  }
  const payroll = calculate({
    ...{ months, period: field(packet, 'period')!, employees, budgets, rules },
    hours: readTable(new URL('hours.csv', DATA), ['emp_id', 'month', 'regular_hours', 'overtime_hours']),
    rates: readTable(new URL('rates.csv', DATA), ['emp_id', 'effective_from', 'hourly_rate'], {
      ...{ key: ['emp_id', 'effective_from'], dates: ['effective_from'] },
    }),
    deductions: readTable(new URL('deductions.csv', DATA), ['emp_id', 'kind', 'percent', 'monthly_amount']),
  });
  await context.memory.set('payroll', payroll);
  await context.memory.set('rules', rules);
  await context.checkpoint({ lines: payroll.lines.length });
  return {
    ...reading,
    summary: `${payroll.lines.length} employees paid, ${payroll.anomalies.length} anomalies so far`,
  };
}

async function report(packet: Packet, context: JobContext, setup: AgentSetup): Promise<HopResult> {
  const reading = await readPacket('RPT', packet, context, setup);
  const [period, previous] = [field(packet, 'period')!, field(packet, 'src_prev')];
  if (field(packet, 'fmt') !== 'xlsx') throw unsupported('fmt', field(packet, 'fmt'));
  const payroll = await context.memory.get<Payroll>('payroll');
  const rules = await context.memory.get<Rules>('rules');
  if (payroll === undefined || rules === undefined)
    throw new LabError({ code: 'missing-data', message: 'The payroll was not calculated' });
  const before = readTable(new URL(`previous-${previous}.csv`, DATA), ['emp_id', 'gross']);
  const { changes, anomalies } = comparePay(payroll.lines, before, period, rules);
  const all = [...payroll.anomalies, ...anomalies].sort((a, b) => order(a).localeCompare(order(b)));
  const review = await reviewLines(payroll.lines, before, all, context, setup);
  await setup.writeReport({ ...payroll, anomalies: all, changes: Object.fromEntries(changes) }, period);
  return {
    ...reading,
    summary: `a workbook with ${all.length} anomalies marked`,
    inputTokens: reading.inputTokens + review.inputTokens,
    outputTokens: reading.outputTokens + review.outputTokens,
    found: review.found,
  };
}

/** Asks the model for the employees that it would review. The rules decide what the workbook marks. */
async function reviewLines(
  lines: readonly PayLine[],
  before: readonly object[],
  anomalies: readonly Anomaly[],
  { signal }: JobContext,
  { model }: AgentSetup,
) {
  const { text, inputTokens, outputTokens } = await model.ask(
    {
      system:
        'You review a payroll. Amounts are in hundredths. Reply with JSON alone: {"review": [...]}, the ids of employees and cost centres with anomalies.',
      prompt: renderJson({ lines, before }).text,
      standIn: () => ({ review: subjectsOf(anomalies) }),
    },
    signal,
  );
  const read = z.object({ review: z.array(z.string()) }).safeParse(jsonIn(text));
  return { inputTokens, outputTokens, found: read.success ? read.data.review : [] };
}

/** Returns the employees and cost centres of anomalies, each once. */
export function subjectsOf(anomalies: readonly Anomaly[]): readonly string[] {
  return [...new Set(anomalies.flatMap(({ subject }) => subject.split(' ')))].sort();
}

/** Records the run. This agent is deterministic in every run: it verifies the log, and asks no model. */
async function log(packet: Packet, { auditFile, recordFile }: AgentSetup): Promise<HopResult> {
  const { ok, records, head, firstFault } = await verifyAuditFile(auditFile);
  if (!ok)
    throw new LabError({
      code: `audit-${firstFault!.reason}`,
      message: `The audit log is damaged in line ${firstFault!.line}: ${firstFault!.reason}`,
    });
  const record = {
    period: field(packet, 'period'),
    status: field(packet, 'status'),
    actor: field(packet, 'actor'),
    chain: field(packet, 'chain')?.split(','),
    records,
    head,
  };
  writeFileSync(recordFile, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  return { summary: `${records} records verified`, reading: null, inputTokens: 0, outputTokens: 0 };
}

function field({ fields }: Packet, name: string): string | null {
  return fields.find(({ key }) => key === name)?.value ?? null;
}

function periodOf(packet: Packet): readonly string[] {
  const period = field(packet, 'period');
  const months = monthsOf(period ?? '');
  if (months === null) throw unsupported('period', period);
  return months;
}

function rulesOf(name: string | null): Rules {
  const all = JSON.parse(readFileSync(new URL('rules.json', DATA), 'utf8')) as Readonly<Record<string, Rules>>;
  if (name === null || !Object.hasOwn(all, name)) throw unsupported('rules', name);
  for (const [rule, value] of Object.entries(all[name]!))
    if (hundredths(String(value)) === null)
      throw new LabError({
        code: 'rules-invalid',
        message: `rules.json: ${rule} must be a number; got ${String(value)}`,
      });
  return all[name]!;
}

function unsupported(name: string, value: string | null): LabError {
  return new LabError({ code: `unsupported-${name}`, message: `${name} ${JSON.stringify(value)} is not supported` });
}

function order({ code, subject, period }: Anomaly): string {
  return `${code} ${subject} ${period}`;
}
