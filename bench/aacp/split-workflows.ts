/** Workflow encoders as a straightforward port of the reference SDK has them: functions with defaults and template strings. */
import { type SplitPacket, splitEncode } from './split-encode.js';

interface Common {
  readonly return_agent?: string;
  readonly priority?: string;
}

interface Period extends Common {
  readonly period: string;
}

const CHAIN = ['HRMS', 'FIN', 'PAY', 'RPT'];
const DIRECTORS = ['fin_director', 'hr_director'];

/** An empty list counts as none given, as in Python. */
function orDefault(list: readonly string[] | undefined, otherwise: readonly string[]): readonly string[] {
  return list === undefined || list.length === 0 ? otherwise : list;
}

export const SplitPayroll = {
  fetch_employees: ({ period, return_agent = 'HR-Agent', priority = '1' }: Period) =>
    splitEncode({
      ...{ task: 'FETCH', domain: 'HR', return_agent, priority },
      ...{ res: 'emp_salary', period, filter_expr: 'status=active', fmt: 'json' },
    }),
  fetch_budgets: ({ period, return_agent = 'HR-Agent', priority = '1' }: Period) =>
    splitEncode({
      ...{ task: 'FETCH', domain: 'FIN', return_agent, priority },
      ...{ res: 'budget_cc', period, fields: ['cc_id', 'approved_budget', 'ytd_spend'], fmt: 'json' },
    }),
  merge_and_calculate: ({
    flags,
    rules = 'payroll_v2',
    return_agent = 'HR-Agent',
    priority = '1',
  }: Period & { readonly flags?: readonly string[]; readonly rules?: string }) =>
    splitEncode({
      ...{ task: 'MERGE', domain: 'HR', return_agent, priority },
      ...{ rules, validate: 'budget_cc', flags_inherit: flags },
    }),
  generate_report: ({
    return_agent = 'HR-Agent',
    priority = '2',
  }: Period & {
    readonly prev_period: string;
  }) =>
    splitEncode({
      ...{ task: 'REPORT', domain: 'HR', return_agent, priority },
      ...{ fmt: 'pdf,xlsx', highlight: 'REVIEW_REQ' },
    }),
  log_run: ({
    actor = 'HR-Agent',
    chain,
    status = 'review_required',
    return_agent = 'AUD-Agent',
    priority = '2',
  }: Period & { readonly actor?: string; readonly chain?: readonly string[]; readonly status?: string }) =>
    splitEncode({ task: 'LOG', domain: 'HR', return_agent, priority, status, actor, chain: orDefault(chain, CHAIN) }),
  send_report: ({
    period,
    to,
    flag_msg = 'review_required',
    return_agent = 'HR-Agent',
    priority = '2',
  }: Period & { readonly to?: readonly string[]; readonly flag_msg?: string }) =>
    splitEncode({
      ...{ task: 'SEND', domain: 'HR', return_agent, priority, to: orDefault(to, DIRECTORS), flag_msg },
      subj: `payroll_${period.replaceAll('-', '_')}_REVIEW_REQ`,
      att: `rpt://payroll/${period}:pdf`,
    }),
};

interface Invoice extends Common {
  readonly supplier: string;
  readonly amount: string | number;
  readonly currency: string;
  readonly terms?: string;
}

export const SplitInvoice = {
  process_invoice: ({
    supplier,
    amount,
    currency,
    purchase_order,
    terms = 'net30',
    return_agent = 'FIN-Agent',
    priority = '2',
  }: Invoice & { readonly purchase_order: string }) =>
    splitEncode({
      ...{ task: 'PROC', domain: 'FIN', return_agent, priority, res: 'invoice', amt: String(amount), ccy: currency },
      ...{ supplier, match: purchase_order, terms, req: ['validate', 'schedule_pay'] },
    }),
  schedule_payment: ({
    supplier,
    amount,
    currency,
    terms = 'net30',
    return_agent = 'FIN-Agent',
    priority = '2',
  }: Invoice) =>
    splitEncode({
      ...{ task: 'PROC', domain: 'FIN', return_agent, priority, res: 'bank_transfer', amt: String(amount) },
      ...{ ccy: currency, supplier, terms, req: ['schedule', 'confirm'] },
    }),
  log_invoice: ({
    invoice_ref,
    supplier,
    amount,
    currency,
    status = 'ok',
    actor = 'FIN-Agent',
    return_agent = 'AUD-Agent',
    priority = '3',
  }: Invoice & { readonly invoice_ref: string; readonly status?: string; readonly actor?: string }) =>
    splitEncode({
      ...{ task: 'LOG', domain: 'FIN', return_agent, priority, filter_expr: `inv=${invoice_ref}` },
      ...{ amt: String(amount), ccy: currency, supplier, status, actor },
    }),
};

interface Contract extends Common {
  readonly contract_type: string;
  readonly party: string;
}

export const SplitContract = {
  request_review: ({
    contract_type,
    party,
    risk_level = 'medium',
    return_agent = 'LEG-Agent',
    priority = '1',
  }: Contract & { readonly risk_level?: string }) =>
    splitEncode({
      ...{ task: 'FLAG', domain: 'LEGAL', return_agent, priority, doc_type: contract_type, party, risk: risk_level },
      req: ['clause_review', 'risk_assess', 'sign_recommend'],
    }),
  flag_clause: ({
    contract_type,
    party,
    clause_ref,
    issue,
    risk = 'high',
    block_action = 'signature',
    return_agent = 'LEG-Agent',
    priority = '1',
  }: Contract & {
    readonly clause_ref: string;
    readonly issue: string;
    readonly risk?: string;
    readonly block_action?: string;
  }) =>
    splitEncode({
      ...{ task: 'FLAG', domain: 'LEGAL', return_agent, priority, doc_type: contract_type, party },
      ...{ clause: clause_ref, issue, risk, block: block_action, req: ['senior_review'] },
    }),
  log_review: ({
    contract_type,
    party,
    risk,
    recommendation,
    actor = 'LEG-Agent',
    return_agent = 'AUD-Agent',
    priority = '2',
  }: Contract & { readonly risk: string; readonly recommendation: string; readonly actor?: string }) =>
    splitEncode({
      ...{ task: 'LOG', domain: 'LEGAL', return_agent, priority, doc_type: contract_type, party, risk },
      ...{ status: recommendation, actor },
    }),
};

/** By the names of the reference SDK. */
export const SPLIT_ENCODERS: Readonly<Record<string, Readonly<Record<string, (args: never) => SplitPacket>>>> = {
  RuleBasedEncoder: { encode: splitEncode },
  PayrollEncoder: SplitPayroll,
  InvoiceEncoder: SplitInvoice,
  ContractEncoder: SplitContract,
};
