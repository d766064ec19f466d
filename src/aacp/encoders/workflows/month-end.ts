import { defineWorkflow } from '../define-workflow.js';
import { actor, list, period, text } from '../inputs.js';

const PERIOD = period('the month, as YYYY-MM', '2026-03');

/** The close of a month in six steps. */
export const MonthEndEncoder = defineWorkflow({
  name: 'MonthEndEncoder',
  alias: 'month_end',
  summary: 'Month end: trial balance, reconciliation, accruals, variances, accounts, certification.',
  steps: {
    fetch_trial_balance: {
      summary: 'Fetch the trial balance.',
      task: 'FETCH',
      domain: 'FIN',
      returnAgent: 'FIN-Agent',
      priority: 1,
      inputs: {
        period: PERIOD,
        entities: list('the companies', { optional: true, example: ['UK', 'US'] }),
      },
      fields: [
        ['res', 'trial_balance'],
        ['period', '{period}'],
        ['filter', ['entities={entities}']],
        ['fmt', 'json'],
      ],
    },
    reconcile_bank: {
      summary: 'Reconcile the bank accounts with the ledger.',
      task: 'PROC',
      domain: 'FIN',
      returnAgent: 'FIN-Agent',
      priority: 1,
      inputs: { period: PERIOD },
      fields: [
        ['res', 'bank_reconciliation'],
        ['period', '{period}'],
        ['rules', 'recon_v1'],
        ['validate', 'gl_match'],
      ],
    },
    post_accruals: {
      summary: 'Calculate and post the accruals.',
      task: 'CALC',
      domain: 'FIN',
      returnAgent: 'FIN-Agent',
      priority: 1,
      inputs: { period: PERIOD },
      fields: [
        ['res', 'accruals'],
        ['period', '{period}'],
        ['rules', 'accrual_policy_v2'],
        ['validate', 'period_cutoff'],
      ],
    },
    variance_analysis: {
      summary: 'Compare the month with the one before.',
      task: 'CALC',
      domain: 'FIN',
      returnAgent: 'FIN-Agent',
      priority: 2,
      inputs: { period: PERIOD, prev_period: period('the month before, as YYYY-MM', '2026-02') },
      fields: [
        ['res', 'variance_analysis'],
        ['period', '{period}'],
        ['src_prev', 'gl://close/{prev_period}'],
        ['highlight', 'MATERIAL_VARIANCE'],
      ],
    },
    generate_management_accounts: {
      summary: 'Write the management accounts.',
      task: 'REPORT',
      domain: 'FIN',
      returnAgent: 'FIN-Agent',
      priority: 2,
      inputs: { period: PERIOD },
      fields: [
        ['period', '{period}'],
        ['fmt', 'pdf,xlsx'],
        ['tmpl', 'mgmt_accounts_v1'],
        ['highlight', 'REVIEW_REQ'],
      ],
    },
    log_close_certification: {
      summary: 'Log that the close is certified.',
      task: 'LOG',
      domain: 'FIN',
      returnAgent: 'AUD-Agent',
      priority: 2,
      inputs: {
        period: PERIOD,
        actor: actor('FIN-Agent'),
        status: text('how it ended', { default: 'certified' }),
      },
      fields: [
        ['res', 'close_certification'],
        ['period', '{period}'],
        ['status', '{status}'],
        ['actor', '{actor}'],
        ['chain', 'FIN-Agent,FIN-Agent,FIN-Agent,FIN-Agent,FIN-Agent'],
      ],
    },
  },
  sequences: {
    full_close: {
      summary: 'The whole close of a month.',
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
