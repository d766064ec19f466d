import { defineWorkflow } from '../define-workflow.js';
import { actor, list, step, text, textOrNumber } from '../inputs.js';

const LEAD = text('the lead', { example: 'L-7712' });

/** Qualifies a sales lead in five steps. */
export const SalesEncoder = defineWorkflow({
  name: 'SalesEncoder',
  alias: 'sales',
  summary: 'Sales leads: fetch, score, route, log, notify.',
  steps: {
    fetch_lead: step(['FETCH', 'SALES', 'SALES-Agent', 1], 'Fetch a lead.', { lead_id: LEAD }, [
      ['res', 'lead_profile'],
      ['filter', ['id={lead_id}']],
      ['fmt', 'json'],
    ]),
    score_lead: step(
      ['CALC', 'SALES', 'SALES-Agent', 1],
      'Score a lead.',
      { lead_id: LEAD, framework: text('the scoring framework', { default: 'BANT', normalise: ['lower-case'] }) },
      [
        ['res', 'lead_score'],
        ['filter', ['id={lead_id}']],
        ['rules', '{framework}'],
      ],
    ),
    route_lead: step(
      ['PROC', 'SALES', 'SALES-Agent', 2],
      'Route a lead by its score.',
      { lead_id: LEAD, score_threshold: textOrNumber('the minimum score', { default: '70' }) },
      [
        ['res', 'lead_routing'],
        ['filter', ['id={lead_id}']],
        ['validate', ['score>={score_threshold}']],
      ],
    ),
    log_qualification: step(
      ['LOG', 'SALES', 'AUD-Agent', 3],
      'Log the qualification of a lead.',
      { lead_id: LEAD, status: text('the outcome', { default: 'qualified' }), actor: actor('SALES-Agent') },
      [
        ['res', 'qualification'],
        ['filter', ['id={lead_id}']],
        ['status', '{status}'],
        ['actor', '{actor}'],
      ],
    ),
    notify_rep: step(
      ['SEND', 'SALES', 'SALES-Agent', 1],
      'Notify the sales representative.',
      {
        // The lead is in the subject only, and subjects contain no spaces.
        lead_id: { ...LEAD, normalise: ['space-to-underscore'] },
        to: list('the recipients', { default: ['sales_rep'] }),
      },
      [
        ['highlight', 'ACTION_REQUIRED'],
        ['to', ['{to}']],
        ['subj', 'qualified_lead_{lead_id}'],
      ],
    ),
  },
  sequences: {
    full_qualification: {
      summary: 'All steps of qualifying a lead.',
      inputs: ['lead_id', 'framework'],
      steps: ['fetch_lead', 'score_lead', 'route_lead', 'log_qualification', 'notify_rep'],
    },
  },
});
