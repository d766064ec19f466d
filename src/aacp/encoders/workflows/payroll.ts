import { defineWorkflow } from '../define-workflow.js';
import { actor, list, period, step, text } from '../inputs.js';

const PERIOD = period('the month, as YYYY-MM', '2024-08');
const PREVIOUS = period('the previous month, as YYYY-MM', '2024-07');
const FLAGS = list('the flags of earlier steps', { optional: true, example: ['anomaly'] });

/** Runs a payroll in six steps. */
export const PayrollEncoder = defineWorkflow({
  name: 'PayrollEncoder',
  alias: 'payroll',
  summary: 'Payroll: fetch salaries and budgets, merge, report, log, send.',
  steps: {
    fetch_employees: step(
      ['FETCH', 'HR', 'HR-Agent', 1],
      'Fetch the salaries of the active employees.',
      { period: PERIOD, fields: list('the fields to return', { optional: true, example: ['emp_id', 'base_salary'] }) },
      [
        ['res', 'emp_salary'],
        ['period', '{period}'],
        ['filter', 'status=active'],
        // The reference SDK accepts the field list and ignores it.
        ['fields', ['{fields}'], { only: 'default' }],
        ['fmt', 'json'],
      ],
    ),
    fetch_budgets: step(['FETCH', 'FIN', 'HR-Agent', 1], 'Fetch the budgets by cost centre.', { period: PERIOD }, [
      ['res', 'budget_cc'],
      ['period', '{period}'],
      ['fields', 'cc_id,approved_budget,ytd_spend'],
      ['fmt', 'json'],
    ]),
    merge_and_calculate: step(
      ['MERGE', 'HR', 'HR-Agent', 1],
      'Merge salaries and budgets, and calculate the payroll.',
      { period: PERIOD, flags: FLAGS, rules: text('the payroll rules', { default: 'payroll_v2' }) },
      [
        ['period', '{period}', { only: 'default' }],
        ['rules', '{rules}'],
        ['validate', 'budget_cc'],
        // The reference SDK uses a key that the draft does not define.
        ['flags', ['{flags}'], { only: 'default' }],
        ['flags_inherit', ['{flags}'], { only: 'compat' }],
      ],
    ),
    generate_report: step(
      ['REPORT', 'HR', 'HR-Agent', 2],
      'Write the payroll report.',
      { period: PERIOD, prev_period: PREVIOUS },
      [
        ['period', '{period}', { only: 'default' }],
        ['fmt', 'pdf,xlsx'],
        ['src_prev', '{prev_period}', { only: 'default' }],
        ['highlight', 'REVIEW_REQ'],
      ],
    ),
    log_run: step(
      ['LOG', 'HR', 'AUD-Agent', 2],
      'Log the payroll run.',
      {
        period: PERIOD,
        actor: actor('HR-Agent'),
        chain: list('the agents that were involved, in order', { default: ['HRMS', 'FIN', 'PAY', 'RPT'] }),
        status: text('the outcome', { default: 'review_required' }),
      },
      [
        ['period', '{period}', { only: 'default' }],
        ['status', '{status}'],
        ['actor', '{actor}'],
        ['chain', ['{chain}']],
      ],
    ),
    send_report: step(
      ['SEND', 'HR', 'HR-Agent', 2],
      'Send the payroll report.',
      {
        period: PERIOD,
        to: list('the recipients', { default: ['fin_director', 'hr_director'] }),
        flag_msg: text('the message to the recipients', {
          default: 'review_required',
          normalise: ['space-to-underscore'],
        }),
      },
      [
        ['to', ['{to}']],
        ['subj', 'payroll_{period:hyphen-to-underscore,space-to-underscore}_REVIEW_REQ'],
        ['att', 'rpt://payroll/{period}:pdf'],
        ['flag_msg', '{flag_msg}'],
      ],
    ),
  },
  sequences: {
    full_run: {
      summary: 'All steps of a payroll run.',
      inputs: ['period', 'prev_period', 'flags'],
      steps: ['fetch_employees', 'fetch_budgets', 'merge_and_calculate', 'generate_report', 'log_run', 'send_report'],
    },
  },
});
