import { defineWorkflow } from '../define-workflow.js';
import { actor, list, period, text } from '../inputs.js';

const PERIOD = period('the month, as YYYY-MM', '2024-08');
const PREVIOUS = period('the month before, as YYYY-MM', '2024-07');
const FLAGS = list('what earlier steps have flagged', { optional: true, example: ['anomaly'] });

/** A payroll run of six steps. */
export const PayrollEncoder = defineWorkflow({
  name: 'PayrollEncoder',
  alias: 'payroll',
  summary: 'Payroll: fetch salaries and budgets, merge, report, log, send.',
  steps: {
    fetch_employees: {
      summary: 'Fetch the salaries of the active employees.',
      task: 'FETCH',
      domain: 'HR',
      returnAgent: 'HR-Agent',
      priority: 1,
      inputs: {
        period: PERIOD,
        fields: list('the fields to return', { optional: true, example: ['emp_id', 'base_salary'] }),
      },
      fields: [
        ['res', 'emp_salary'],
        ['period', '{period}'],
        ['filter', 'status=active'],
        // The reference SDK takes the field list and forgets it.
        ['fields', ['{fields}'], { only: 'default' }],
        ['fmt', 'json'],
      ],
    },
    fetch_budgets: {
      summary: 'Fetch the budgets by cost centre.',
      task: 'FETCH',
      domain: 'FIN',
      returnAgent: 'HR-Agent',
      priority: 1,
      inputs: { period: PERIOD },
      fields: [
        ['res', 'budget_cc'],
        ['period', '{period}'],
        ['fields', 'cc_id,approved_budget,ytd_spend'],
        ['fmt', 'json'],
      ],
    },
    merge_and_calculate: {
      summary: 'Merge salaries and budgets, and calculate the payroll.',
      task: 'MERGE',
      domain: 'HR',
      returnAgent: 'HR-Agent',
      priority: 1,
      inputs: { period: PERIOD, flags: FLAGS, rules: text('the payroll rules', { default: 'payroll_v2' }) },
      fields: [
        ['period', '{period}', { only: 'default' }],
        ['rules', '{rules}'],
        ['validate', 'budget_cc'],
        // The key of the reference SDK is none of the draft's.
        ['flags', ['{flags}'], { only: 'default' }],
        ['flags_inherit', ['{flags}'], { only: 'compat' }],
      ],
    },
    generate_report: {
      summary: 'Write the payroll report.',
      task: 'REPORT',
      domain: 'HR',
      returnAgent: 'HR-Agent',
      priority: 2,
      inputs: { period: PERIOD, prev_period: PREVIOUS },
      fields: [
        ['period', '{period}', { only: 'default' }],
        ['fmt', 'pdf,xlsx'],
        ['src_prev', '{prev_period}', { only: 'default' }],
        ['highlight', 'REVIEW_REQ'],
      ],
    },
    log_run: {
      summary: 'Log the payroll run.',
      task: 'LOG',
      domain: 'HR',
      returnAgent: 'AUD-Agent',
      priority: 2,
      inputs: {
        period: PERIOD,
        actor: actor('HR-Agent'),
        chain: list('the agents that took part, in order', { default: ['HRMS', 'FIN', 'PAY', 'RPT'] }),
        status: text('how it ended', { default: 'review_required' }),
      },
      fields: [
        ['period', '{period}', { only: 'default' }],
        ['status', '{status}'],
        ['actor', '{actor}'],
        ['chain', ['{chain}']],
      ],
    },
    send_report: {
      summary: 'Send the payroll report.',
      task: 'SEND',
      domain: 'HR',
      returnAgent: 'HR-Agent',
      priority: 2,
      inputs: {
        period: PERIOD,
        to: list('who gets it', { default: ['fin_director', 'hr_director'] }),
        flag_msg: text('what to tell them', { default: 'review_required', normalise: ['space-to-underscore'] }),
      },
      fields: [
        ['to', ['{to}']],
        ['subj', 'payroll_{period:hyphen-to-underscore,space-to-underscore}_REVIEW_REQ'],
        ['att', 'rpt://payroll/{period}:pdf'],
        ['flag_msg', '{flag_msg}'],
      ],
    },
  },
  sequences: {
    full_run: {
      summary: 'The whole payroll run.',
      inputs: ['period', 'prev_period', 'flags'],
      steps: ['fetch_employees', 'fetch_budgets', 'merge_and_calculate', 'generate_report', 'log_run', 'send_report'],
    },
  },
});
