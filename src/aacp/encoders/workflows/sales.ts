import { defineWorkflow } from '../define-workflow.js';
import { actor, list, text, textOrNumber } from '../inputs.js';

const LEAD = text('the lead', { example: 'L-7712' });

/** A sales lead in five steps. */
export const SalesEncoder = defineWorkflow({
  name: 'SalesEncoder',
  alias: 'sales',
  summary: 'Sales leads: fetch, score, route, log, notify.',
  steps: {
    fetch_lead: {
      summary: 'Fetch a lead.',
      task: 'FETCH',
      domain: 'SALES',
      returnAgent: 'SALES-Agent',
      priority: 1,
      inputs: { lead_id: LEAD },
      fields: [
        ['res', 'lead_profile'],
        ['filter', ['id={lead_id}']],
        ['fmt', 'json'],
      ],
    },
    score_lead: {
      summary: 'Score a lead.',
      task: 'CALC',
      domain: 'SALES',
      returnAgent: 'SALES-Agent',
      priority: 1,
      inputs: {
        lead_id: LEAD,
        framework: text('how to score', { default: 'BANT', normalise: ['lower-case'] }),
      },
      fields: [
        ['res', 'lead_score'],
        ['filter', ['id={lead_id}']],
        ['rules', '{framework}'],
      ],
    },
    route_lead: {
      summary: 'Route a lead by its score.',
      task: 'PROC',
      domain: 'SALES',
      returnAgent: 'SALES-Agent',
      priority: 2,
      inputs: { lead_id: LEAD, score_threshold: textOrNumber('the least score', { default: '70' }) },
      fields: [
        ['res', 'lead_routing'],
        ['filter', ['id={lead_id}']],
        ['validate', ['score>={score_threshold}']],
      ],
    },
    log_qualification: {
      summary: 'Log whether a lead is qualified.',
      task: 'LOG',
      domain: 'SALES',
      returnAgent: 'AUD-Agent',
      priority: 3,
      inputs: {
        lead_id: LEAD,
        status: text('how it ended', { default: 'qualified' }),
        actor: actor('SALES-Agent'),
      },
      fields: [
        ['res', 'qualification'],
        ['filter', ['id={lead_id}']],
        ['status', '{status}'],
        ['actor', '{actor}'],
      ],
    },
    notify_rep: {
      summary: 'Notify the sales representative.',
      task: 'SEND',
      domain: 'SALES',
      returnAgent: 'SALES-Agent',
      priority: 1,
      inputs: {
        // It is told in the subject only, and subjects hold no spaces.
        lead_id: { ...LEAD, normalise: ['space-to-underscore'] },
        to: list('who is notified', { default: ['sales_rep'] }),
      },
      fields: [
        ['highlight', 'ACTION_REQUIRED'],
        ['to', ['{to}']],
        ['subj', 'qualified_lead_{lead_id}'],
      ],
    },
  },
  sequences: {
    full_qualification: {
      summary: 'The whole qualification of a lead.',
      inputs: ['lead_id', 'framework'],
      steps: ['fetch_lead', 'score_lead', 'route_lead', 'log_qualification', 'notify_rep'],
    },
  },
});
