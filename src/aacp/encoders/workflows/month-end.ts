import { defineWorkflow } from '../define-workflow.js';
import { actor, list, period, step, text } from '../inputs.js';

const PERIOD = period('the month, as YYYY-MM', '2026-03');

/** Closes a month in six steps. */
export const MonthEndEncoder = defineWorkflow({
  name: 'MonthEndEncoder',
  alias: 'month_end',
  summary: 'Month end: trial balance, reconciliation, accruals, variances, accounts, certification.',
  steps: {
    fetch_trial_balance: step(
      ['FETCH', 'FIN', 'FIN-Agent', 1],
      'Fetch the trial balance.',
      { period: PERIOD, entities: list('the companies', { optional: true, example: ['UK', 'US'] }) },
      [
        ['res', 'trial_balance'],
        ['period', '{period}'],
        ['filter', ['entities={entities}']],
        ['fmt', 'json'],
      ],
    ),
    reconcile_bank: step(
      ['PROC', 'FIN', 'FIN-Agent', 1],
      'Reconcile the bank accounts with the ledger.',
      { period: PERIOD },
      [
        ['res', 'bank_reconciliation'],
        ['period', '{period}'],
        ['rules', 'recon_v1'],
        ['validate', 'gl_match'],
      ],
    ),
    post_accruals: step(['CALC', 'FIN', 'FIN-Agent', 1], 'Calculate and post the accruals.', { period: PERIOD }, [
      ['res', 'accruals'],
      ['period', '{period}'],
      ['rules', 'accrual_policy_v2'],
      ['validate', 'period_cutoff'],
    ]),
    variance_analysis: step(
      ['CALC', 'FIN', 'FIN-Agent', 2],
      'Compare the month with the previous one.',
      { period: PERIOD, prev_period: period('the previous month, as YYYY-MM', '2026-02') },
      [
        ['res', 'variance_analysis'],
        ['period', '{period}'],
        ['src_prev', 'gl://close/{prev_period}'],
        ['highlight', 'MATERIAL_VARIANCE'],
      ],
    ),
    generate_management_accounts: step(
      ['REPORT', 'FIN', 'FIN-Agent', 2],
      'Write the management accounts.',
      { period: PERIOD },
      [
        ['period', '{period}'],
        ['fmt', 'pdf,xlsx'],
        ['tmpl', 'mgmt_accounts_v1'],
        ['highlight', 'REVIEW_REQ'],
      ],
    ),
    log_close_certification: step(
      ['LOG', 'FIN', 'AUD-Agent', 2],
      'Log the certification of the close.',
      { period: PERIOD, actor: actor('FIN-Agent'), status: text('the outcome', { default: 'certified' }) },
      [
        ['res', 'close_certification'],
        ['period', '{period}'],
        ['status', '{status}'],
        ['actor', '{actor}'],
        ['chain', 'FIN-Agent,FIN-Agent,FIN-Agent,FIN-Agent,FIN-Agent'],
      ],
    ),
  },
  sequences: {
    full_close: {
      summary: 'All steps of closing a month.',
      inputs: ['period', 'prev_period', 'entities'],
      steps: [
        'fetch_trial_balance',
        'reconcile_bank',
        'post_accruals',
        'variance_analysis',
        'generate_management_accounts',
        'log_close_certification',
      ],
    },
  },
});
