/** Runs the payroll workflow: five packets through ARCP jobs to five agents, each step validated, sealed and recorded. */
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { AuditError, type AuditVerification, fileAudit, verifyAuditFile } from '../../../src/aacp/dispatch/index.js';
import { encodeStep, packetHash } from '../../../src/aacp/encoders/index.js';
import { explainPacket, parsePacket, validatePacket } from '../../../src/aacp/index.js';
import { type Client, memoryChannels, openClient } from '../../../src/arcp/client/index.js';
import { ArcpError } from '../../../src/arcp/index.js';
import { createRuntime, sqliteStore } from '../../../src/arcp/runtime/index.js';
import { loadTokenCounter, type TokenCounter } from '../../../src/tokens/index.js';
import { type AgentName, type HopResult, type Report, registerAgents, sealOf } from './agents.js';
import { chooseModel, type Prices } from './models.js';
import { LabError } from './tables.js';
import { writeWorkbook } from './workbook.js';

/** The target of an intruder: a value of a packet in transit, a field of it, or a record of the audit log. */
export type Tampering = 'packet' | 'field' | 'log';

export interface LabOptions {
  /** The folder for the workbook, the page, the audit log and the jobs. Earlier files of the lab in it are replaced. */
  readonly folder: string;
  readonly tamper?: Tampering | undefined;
  /** The model, if a key is set. @default the one of `chooseModel` */
  readonly model?: string | undefined;
  readonly onHop?: ((hop: Hop) => void) | undefined;
}

/** One hop, as the page shows it. */
export interface Hop {
  readonly agent: AgentName;
  readonly english: string;
  readonly packet: string;
  /** The packet as it arrived, if it was changed on the way. */
  readonly received: string | null;
  readonly explanation: string;
  readonly warnings: readonly string[];
  readonly hash: string;
  readonly jobId: string | null;
  /** The messages of the job, in order. */
  readonly messages: readonly string[];
  readonly state: 'done' | 'refused' | 'not run';
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly result: HopResult | null;
  readonly packetTokens: number;
  readonly englishTokens: number;
  readonly durationMs: number;
}

export interface LabResult {
  readonly period: string;
  readonly hops: readonly Hop[];
  readonly report: Report | null;
  readonly audit: AuditVerification;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** The model; `null` for the stand-ins. */
  readonly model: string | null;
  /** The origin of the token counts of agents. */
  readonly counted: string;
  /** The counter of the tokens of packets and English. */
  readonly counter: string;
  readonly prices: Prices;
  readonly files: { readonly workbook: string; readonly page: string; readonly audit: string; readonly record: string };
}

const PERIOD = '2026-Q1';
const PREVIOUS = '2025-Q4';

interface Step {
  readonly agent: AgentName;
  readonly english: string;
  readonly packet: string;
}

/** The steps of the run. The English is what the packet replaces. */
function stepsOf(): readonly Step[] {
  const period = PERIOD;
  const steps = [
    [
      'HRMS',
      'Please retrieve the employee salary records for the first quarter of 2026. I need all employees who are active in that quarter, with their departments, cost centres, dates of employment and accounts. Return them as JSON.',
      encodeStep('PayrollEncoder', 'fetch_employees', { period }),
    ],
    [
      'FIN',
      'Please retrieve the approved budgets and the year-to-date spend of all cost centres for the first quarter of 2026, so that the payroll can be checked against them. Return them as JSON.',
      encodeStep('PayrollEncoder', 'fetch_budgets', { period }),
    ],
    [
      'PAY',
      'Please merge the employees with the hours, rates and deductions of the first quarter of 2026, calculate the payroll by the rules in payroll_v2, and validate the totals against the budgets of the cost centres.',
      encodeStep('PayrollEncoder', 'merge_and_calculate', { period }),
    ],
    // The step generate_report also requests a PDF, which this report agent does not write.
    [
      'RPT',
      'Please generate the payroll report for the first quarter of 2026 as an Excel workbook, compare it with the fourth quarter of 2025, and highlight everything that requires a review.',
      encodeStep('RuleBasedEncoder', 'encode', {
        task: 'REPORT',
        domain: 'HR',
        return_agent: 'HR-Agent',
        period,
        fmt: 'xlsx',
        src_prev: PREVIOUS,
        highlight: 'REVIEW_REQ',
      }),
    ],
    [
      'AUD',
      'Please write the audit record of the payroll run for the first quarter of 2026. The agents HRMS, FIN, PAY and RPT were involved, in this order, and the status is that a review is required.',
      encodeStep('PayrollEncoder', 'log_run', { period, actor: 'ORCHESTRATOR', chain: ['HRMS', 'FIN', 'PAY', 'RPT'] }),
    ],
  ] as const;
  return steps.map(([agent, english, { packet }]) => ({ agent, english, packet }));
}

/**
 * Runs the lab. A refused packet stops it, and is in `error`.
 *
 * @throws AuditError `audit-in-use` if another run uses the folder
 */
export async function runLab(options: LabOptions): Promise<LabResult> {
  const { folder, tamper, onHop } = options;
  mkdirSync(folder, { recursive: true });
  const place = (name: string): string => path.join(folder, name);
  const files = {
    workbook: place('payroll.xlsx'),
    page: place('index.html'),
    audit: place('audit.jsonl'),
    record: place('run.json'),
  };
  await checkUnused(files.audit);
  for (const name of ['payroll.xlsx', 'index.html', 'audit.jsonl', 'run.json', 'jobs.db', 'jobs.db-wal', 'jobs.db-shm'])
    rmSync(place(name), { force: true });

  const counter = await loadTokenCounter();
  const model = chooseModel(counter, options.model);
  const audit = await fileAudit(files.audit);
  const runtime = createRuntime({ store: await sqliteStore(place('jobs.db')) });
  const key = randomBytes(32).toString('hex');
  let report: Report | null = null;
  registerAgents(runtime, {
    ...{ audit, auditFile: files.audit, model, key, recordFile: files.record },
    async writeReport(made, period) {
      report = made;
      await writeWorkbook(files.workbook, made, period);
    },
  });
  const client = await openClient(() => {
    const [here, there] = memoryChannels();
    void runtime.accept(there);
    return here;
  });
  const hops: Hop[] = [];
  let error: LabResult['error'] = null;
  try {
    for (const step of stepsOf()) {
      const hop: Hop =
        error === null
          ? await runStep(step, { client, key, counter, tamper, auditFile: files.audit })
          : skipped(step, counter);
      error ??= hop.error;
      hops.push(hop);
      onHop?.(hop);
    }
  } finally {
    await client.close();
    await runtime.close();
    await audit.close();
  }
  const prices = JSON.parse(readFileSync(new URL('data/prices.json', import.meta.url), 'utf8')) as Prices;
  const verification = await verifyAuditFile(files.audit, error === null ? { head: audit.head() } : {});
  const counting = counter.exact ? counter.encoding : 'an estimate';
  return {
    period: PERIOD,
    hops,
    report,
    audit: verification,
    error,
    model: model.name,
    counted: model.counted,
    counter: counting,
    prices,
    files,
  };
}

/** Fails if another run has the log open. A log that an earlier run has damaged is replaced, as any other. */
async function checkUnused(file: string): Promise<void> {
  if (!existsSync(file)) return;
  try {
    await (await fileAudit(file)).close();
  } catch (thrown) {
    if (!(thrown instanceof AuditError && thrown.code === 'audit-damaged')) throw thrown;
  }
}

interface Line {
  readonly client: Client;
  readonly key: string;
  readonly counter: TokenCounter;
  readonly tamper: Tampering | undefined;
  readonly auditFile: string;
}

async function runStep(step: Step, { client, key, counter, tamper, auditFile }: Line): Promise<Hop> {
  const { agent, packet } = step;
  const { errors, warnings } = validatePacket(packet);
  // Section 7: errors are reported before transmission.
  if (errors.length > 0) throw new LabError({ code: errors[0]!.code, message: errors[0]!.message });
  const tree = parsePacket(packet);
  const base = { ...skipped(step, counter), warnings: warnings.map(({ code }) => code) };
  const times = { nonce: randomUUID(), sentAt: Date.now() };
  const envelope = { ...times, seal: sealOf(key, packetHash(tree), times) };
  const received = agent === 'PAY' ? changed(packet, tamper) : packet;
  if (agent === 'AUD' && tamper === 'log') changeLog(auditFile);
  const startedAt = performance.now();
  const invocation = client.delegate<HopResult>(`${agent}`, received, {
    operationKey: times.nonce,
    arguments: { envelope },
  });
  const messages: string[] = [];
  const reading = (async () => {
    for await (const { type } of invocation.events()) messages.push(type);
  })();
  const outcome = await invocation.result().then(
    (result) => ({ state: 'done' as const, result, error: null }),
    (thrown: unknown) => ({ state: 'refused' as const, result: null, error: errorOf(thrown) }),
  );
  await reading.catch(() => {});
  const jobId = (await invocation.accepted.catch(() => undefined)) ?? null;
  return {
    ...base,
    ...outcome,
    jobId,
    messages,
    received: received === packet ? null : received,
    durationMs: performance.now() - startedAt,
  };
}

function skipped({ agent, english, packet }: Step, counter: TokenCounter): Hop {
  const tree = parsePacket(packet);
  return {
    ...{
      agent,
      english,
      packet,
      received: null,
      explanation: explainPacket(tree),
      warnings: [],
      hash: packetHash(tree),
    },
    ...{ jobId: null, messages: [], state: 'not run', error: null, result: null, durationMs: 0 },
    ...{ packetTokens: counter.count(packet), englishTokens: counter.count(english) },
  };
}

/** Changes a packet on its way, as someone in the middle would. */
function changed(packet: string, tamper: Tampering | undefined): string {
  if (tamper === 'packet') return packet.replace('rules:payroll_v2', 'rules:payroll_v9');
  return tamper === 'field' ? `${packet}|return:EVIL-Agent` : packet;
}

/** Changes the actor of the first record, without changing its length. */
function changeLog(file: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace('ORCHESTRATOR', 'ORCHESTRATED'));
}

function errorOf(thrown: unknown): { readonly code: string; readonly message: string } {
  if (!(thrown instanceof ArcpError)) throw thrown;
  return { code: String(thrown.details?.['reason'] ?? thrown.code), message: thrown.message };
}
