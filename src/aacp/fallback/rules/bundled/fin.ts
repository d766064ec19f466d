/** Rules for finance. */
import type { BundledRule } from './bundled-rule.js';

export const FIN_RULES: readonly BundledRule[] = [
  {
    id: 'fin-fetch-budgets',
    name: 'Fetch budget allocations',
    description: 'Approved budgets and year-to-date spend of the cost centres for a month.',
    task: 'FETCH',
    dom: 'FIN',
    packet:
      'FETCH|FIN|return:FIN-Agent|p:1|aacp:1.1|res:budget_cc|period:{period}|fields:cc_id,approved_budget,ytd_spend|fmt:json',
    tags: ['budget', 'cost-centre', 'allocation', 'ytd', 'spend'],
    phrases: [
      'fetch the budget allocations by cost centre for {period}',
      'provide the budget allocations by cost centre for {period}, including year-to-date spend',
      'get the approved budgets and year-to-date spend by cost centre for {period}',
    ],
    workflow: { encoder: 'PayrollEncoder', method: 'fetch_budgets', args: { period: '{period}' } },
  },
  {
    id: 'fin-process-invoice',
    name: 'Process a supplier invoice',
    description:
      'Validates an invoice against its purchase order and schedules the payment on the terms that are given.',
    task: 'PROC',
    dom: 'FIN',
    packet:
      'PROC|FIN|return:FIN-Agent|p:2|aacp:1.1|res:invoice|amt:{amount.value}|ccy:{amount.currency}|sup:{supplier}|match:{order}|terms:net{days}|req:validate,schedule_pay',
    tags: ['invoice', 'supplier', 'payment', 'purchase-order', 'terms'],
    phrases: [
      'process the invoice from {supplier:name} for {amount} against purchase order {order:id} on net {days:number} terms',
      'process the supplier invoice from {supplier:name} for {amount}, match it to {order:id}, payment terms net {days:number}',
      'process the {amount} invoice from {supplier:name} against {order:id}, net {days:number}, and schedule the payment',
    ],
    workflow: {
      encoder: 'InvoiceEncoder',
      method: 'process_invoice',
      args: {
        supplier: '{supplier}',
        amount: '{amount.value}',
        currency: '{amount.currency}',
        purchase_order: '{order}',
        terms: 'net{days}',
      },
    },
  },
  {
    id: 'fin-process-invoice-for-order',
    name: 'Process an invoice against a purchase order',
    description: 'Validates an invoice against its purchase order, on the terms that finance has on file.',
    task: 'PROC',
    dom: 'FIN',
    packet:
      'PROC|FIN|return:FIN-Agent|p:2|aacp:1.1|res:invoice|amt:{amount.value}|ccy:{amount.currency}|sup:{supplier}|match:{order}',
    tags: ['invoice', 'supplier', 'purchase-order'],
    phrases: [
      'process the invoice from {supplier:name} for {amount} against purchase order {order:id}',
      'process the supplier invoice from {supplier:name} for {amount} and match it to {order:id}',
    ],
  },
  {
    id: 'fin-match-invoice',
    name: 'Three-way match of an invoice',
    description: 'Compares an invoice with its purchase order and the goods received.',
    task: 'PROC',
    dom: 'FIN',
    packet:
      'PROC|FIN|return:FIN-Agent|p:2|aacp:1.1|res:invoice|filter:inv={invoice}|match:{order}|validate:goods_receipt',
    tags: ['three-way-match', 'invoice', 'purchase-order', 'goods-receipt'],
    phrases: [
      'run a three-way match of invoice {invoice:id} against purchase order {order:id} and the goods receipt',
      'process the three-way match for invoice {invoice:id}, purchase order {order:id} and the goods receipt',
    ],
  },
  {
    id: 'fin-schedule-payment',
    name: 'Schedule a payment',
    description: 'Schedules and confirms a bank transfer to a supplier.',
    task: 'PROC',
    dom: 'FIN',
    packet:
      'PROC|FIN|return:FIN-Agent|p:2|aacp:1.1|res:bank_transfer|amt:{amount.value}|ccy:{amount.currency}|sup:{supplier}|terms:net{days}|req:schedule,confirm',
    tags: ['payment', 'bank-transfer', 'supplier', 'terms'],
    phrases: [
      'schedule a payment of {amount} to {supplier:name} on net {days:number} terms',
      'schedule and confirm a bank transfer of {amount} to supplier {supplier:name}, terms net {days:number}',
    ],
    workflow: {
      encoder: 'InvoiceEncoder',
      method: 'schedule_payment',
      args: {
        supplier: '{supplier}',
        amount: '{amount.value}',
        currency: '{amount.currency}',
        terms: 'net{days}',
      },
    },
  },
  {
    id: 'fin-log-invoice',
    name: 'Log a processed invoice',
    description: 'The audit record of an invoice that went through without errors.',
    task: 'LOG',
    dom: 'FIN',
    packet:
      'LOG|FIN|return:AUD-Agent|p:3|aacp:1.1|filter:inv={invoice}|amt:{amount.value}|ccy:{amount.currency}|sup:{supplier}|status:ok|actor:FIN-Agent',
    tags: ['invoice', 'audit', 'audit-trail', 'processed'],
    phrases: [
      'log that invoice {invoice:id} from {supplier:name} for {amount} was processed with status ok',
      'log invoice {invoice:id} from {supplier:name} for {amount} to the audit trail as ok',
    ],
    workflow: {
      encoder: 'InvoiceEncoder',
      method: 'log_invoice',
      args: {
        invoice_ref: '{invoice}',
        supplier: '{supplier}',
        amount: '{amount.value}',
        currency: '{amount.currency}',
      },
    },
  },
  {
    id: 'fin-fetch-trial-balance',
    name: 'Fetch the trial balance',
    description: 'Balances of all accounts at the end of a month: the first step of the close.',
    task: 'FETCH',
    dom: 'FIN',
    packet: 'FETCH|FIN|return:FIN-Agent|p:1|aacp:1.1|res:trial_balance|period:{period}|fmt:json',
    tags: ['trial-balance', 'month-end', 'close', 'ledger'],
    phrases: [
      'fetch the trial balance for {period}',
      'get the month-end trial balance for {period} as JSON',
      'pull the {period} trial balance',
    ],
    workflow: { encoder: 'MonthEndEncoder', method: 'fetch_trial_balance', args: { period: '{period}' } },
  },
  {
    id: 'fin-reconcile-bank',
    name: 'Reconcile the bank accounts',
    description: 'Matches bank statements with the general ledger for a month.',
    task: 'PROC',
    dom: 'FIN',
    packet:
      'PROC|FIN|return:FIN-Agent|p:1|aacp:1.1|res:bank_reconciliation|period:{period}|rules:recon_v1|validate:gl_match',
    tags: ['bank', 'reconciliation', 'month-end', 'general-ledger'],
    phrases: [
      'reconcile the bank accounts for {period} against the general ledger',
      'run the bank reconciliation for {period} and match it to the general ledger',
    ],
    workflow: { encoder: 'MonthEndEncoder', method: 'reconcile_bank', args: { period: '{period}' } },
  },
  {
    id: 'fin-calculate-accruals',
    name: 'Calculate accruals',
    description: 'Accruals of a month by the accrual policy, checked against the cut-off.',
    task: 'CALC',
    dom: 'FIN',
    packet:
      'CALC|FIN|return:FIN-Agent|p:1|aacp:1.1|res:accruals|period:{period}|rules:accrual_policy_v2|validate:period_cutoff',
    tags: ['accruals', 'month-end', 'journal', 'cut-off'],
    phrases: [
      'calculate and post the accruals for {period}',
      'calculate the month-end accruals for {period} and validate the period cut-off',
    ],
    workflow: { encoder: 'MonthEndEncoder', method: 'post_accruals', args: { period: '{period}' } },
  },
  {
    id: 'fin-analyse-variances',
    name: 'Variance analysis',
    description: 'Compares two months and points out what differs materially.',
    task: 'CALC',
    dom: 'FIN',
    packet:
      'CALC|FIN|return:FIN-Agent|p:2|aacp:1.1|res:variance_analysis|period:{period}|src_prev:gl://close/{previous}|highlight:MATERIAL_VARIANCE',
    tags: ['variance', 'month-end', 'analysis', 'comparison'],
    phrases: [
      'calculate the variance analysis for {period} against {previous:period} and highlight material variances',
      'compute the variances of {period} compared with {previous:period}, highlighting what is material',
    ],
    workflow: {
      encoder: 'MonthEndEncoder',
      method: 'variance_analysis',
      args: { period: '{period}', prev_period: '{previous}' },
    },
  },
  {
    id: 'fin-report-management-accounts',
    name: 'Management accounts',
    description: 'The management accounts of a month as PDF and Excel, for review.',
    task: 'REPORT',
    dom: 'FIN',
    packet:
      'REPORT|FIN|return:FIN-Agent|p:2|aacp:1.1|period:{period}|fmt:pdf,xlsx|tmpl:mgmt_accounts_v1|highlight:REVIEW_REQ',
    tags: ['management-accounts', 'month-end', 'close', 'report'],
    phrases: [
      'generate the management accounts for {period} as PDF and Excel for review',
      'generate the {period} management accounts in PDF and Excel format',
    ],
    workflow: { encoder: 'MonthEndEncoder', method: 'generate_management_accounts', args: { period: '{period}' } },
  },
  {
    id: 'fin-log-close',
    name: 'Log the certified close',
    description: 'The audit record that the books of a month were certified.',
    task: 'LOG',
    dom: 'FIN',
    packet:
      'LOG|FIN|return:AUD-Agent|p:2|aacp:1.1|res:close_certification|period:{period}|status:certified|actor:FIN-Agent|chain:FIN-Agent,FIN-Agent,FIN-Agent,FIN-Agent,FIN-Agent',
    tags: ['month-end', 'close', 'certification', 'audit'],
    phrases: [
      'log the close certification for {period} as certified',
      'log to the audit trail that the {period} month-end close is certified',
    ],
    workflow: { encoder: 'MonthEndEncoder', method: 'log_close_certification', args: { period: '{period}' } },
  },
  {
    id: 'fin-fetch-overdue-invoices',
    name: 'Fetch overdue invoices',
    description: 'Invoices that nobody has paid for more than a number of days after they were due.',
    task: 'FETCH',
    dom: 'FIN',
    packet: 'FETCH|FIN|return:FIN-Agent|p:2|aacp:1.1|res:invoices|filter:days_overdue>{days}',
    tags: ['invoices', 'overdue', 'receivables', 'dunning'],
    phrases: [
      'fetch all invoices that are more than {days:number} days overdue',
      'list all invoices overdue by more than {days:number} days',
    ],
  },
  {
    id: 'fin-flag-duplicate-invoice',
    name: 'Flag a duplicate invoice',
    description: 'Stops nothing, but has somebody look at an invoice that was probably sent twice.',
    task: 'FLAG',
    dom: 'FIN',
    packet: 'FLAG|FIN|return:FIN-Agent|p:1|aacp:1.1|res:invoice|filter:inv={invoice}|issue:duplicate',
    tags: ['invoice', 'duplicate', 'review'],
    phrases: [
      'flag invoice {invoice:id} as a duplicate',
      'flag invoice {invoice:id} as a possible duplicate for review',
    ],
  },
  {
    id: 'fin-flag-order-mismatch',
    name: 'Flag an invoice that does not fit its order',
    description: 'For invoices whose discrepancy with the purchase order has to be cleared up first.',
    task: 'FLAG',
    dom: 'FIN',
    packet: 'FLAG|FIN|return:FIN-Agent|p:1|aacp:1.1|res:invoice|filter:inv={invoice}|match:{order}|issue:po_mismatch',
    tags: ['invoice', 'discrepancy', 'mismatch', 'purchase-order'],
    phrases: [
      'flag invoice {invoice:id} for a mismatch with purchase order {order:id}',
      'flag the discrepancy between invoice {invoice:id} and purchase order {order:id}',
    ],
  },
  {
    id: 'fin-fetch-cash-position',
    name: 'Fetch the cash position',
    description: 'Balances of all bank accounts on a day.',
    task: 'FETCH',
    dom: 'FIN',
    packet: 'FETCH|FIN|return:FIN-Agent|p:2|aacp:1.1|res:cash_position|filter:date={date}',
    tags: ['cash', 'liquidity', 'treasury', 'bank'],
    phrases: ['get the cash position as of {date}', 'fetch the cash position on {date}'],
  },
  {
    id: 'fin-calculate-vat',
    name: 'Calculate the VAT return',
    description: 'Value added tax that is due for a quarter.',
    task: 'CALC',
    dom: 'FIN',
    packet: 'CALC|FIN|return:FIN-Agent|p:1|aacp:1.1|res:vat_return|period:{quarter}',
    tags: ['vat', 'tax', 'vat-return', 'quarterly'],
    phrases: ['calculate the VAT return for {quarter}', 'compute the VAT due for {quarter}'],
  },
  {
    id: 'fin-merge-ledgers',
    name: 'Consolidate ledgers',
    description: 'One ledger for a month out of those of several companies.',
    task: 'MERGE',
    dom: 'FIN',
    packet: 'MERGE|FIN|return:FIN-Agent|p:2|aacp:1.1|res:ledgers|period:{period}|src:{entities}',
    tags: ['consolidation', 'ledger', 'entities', 'group'],
    phrases: [
      'consolidate the ledgers of {entities:list} for {period}',
      'merge the ledgers of the entities {entities:list} for {period}',
    ],
  },
  {
    id: 'fin-acknowledge-invoice',
    name: 'Acknowledge an invoice',
    description: 'Confirms that an invoice has arrived; says nothing about its payment.',
    task: 'ACK',
    dom: 'FIN',
    packet: 'ACK|FIN|return:FIN-Agent|p:3|aacp:1.1|res:invoice|filter:inv={invoice}|sup:{supplier}',
    tags: ['invoice', 'receipt', 'supplier'],
    phrases: [
      'acknowledge receipt of invoice {invoice:id} from {supplier:name}',
      'confirm to {supplier:name} that we have received invoice {invoice:id}',
    ],
  },
];
