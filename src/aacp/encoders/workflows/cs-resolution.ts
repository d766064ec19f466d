import { defineWorkflow } from '../define-workflow.js';
import { actor, amount, currency, flag, step, text } from '../inputs.js';

const CUSTOMER = text('the customer', { example: 'C-4421' });
const TICKET = text('the ticket', { example: 'T-9912' });
const TONE = text('the tone of the answer', { default: 'empathetic', normalise: ['lower-case'] });

/** Resolves a complaint in five steps. */
export const CSResolutionEncoder = defineWorkflow({
  name: 'CSResolutionEncoder',
  alias: 'cs_resolution',
  summary: 'Complaints: fetch the customer, triage, resolve, answer, log.',
  steps: {
    fetch_customer: step(
      ['FETCH', 'CS', 'CS-Agent', 1],
      'Fetch the profile of a customer.',
      { customer_id: CUSTOMER },
      [
        ['res', 'customer_profile'],
        ['filter', ['id={customer_id}']],
        ['fields', 'history,ltv,loyalty,open_tickets,sentiment'],
        ['fmt', 'json'],
      ],
    ),
    triage_complaint: step(['PROC', 'CS', 'CS-Agent', 1], 'Triage a complaint.', { ticket_id: TICKET }, [
      ['res', 'ticket_triage'],
      ['filter', ['id={ticket_id}']],
      ['req', 'categorise,sentiment_score,priority_score'],
    ]),
    resolve_complaint: step(
      ['RESOLVE', 'CS', 'CS-Agent', 1],
      'Resolve a complaint.',
      {
        ticket_id: TICKET,
        sentiment: text('the mood of the customer', { default: 'negative', normalise: ['lower-case'] }),
        tone: TONE,
        ltv: amount('the lifetime value of the customer', { optional: true, example: 8000 }),
        ccy: currency('the currency of the lifetime value, as three letters', { default: 'GBP', defaultWith: 'ltv' }),
        goodwill: flag('true to consider a gesture of goodwill'),
      },
      [
        ['res', 'complaint'],
        ['filter', ['id={ticket_id}']],
        ['ccy', '{ccy}', { only: 'default' }],
        ['ccy', '{ccy}', { only: 'compat', when: 'ltv' }],
        ['req', ['resolve', ['goodwill_consider', 'goodwill']]],
        ['sentiment', '{sentiment}'],
        ['tone', '{tone}'],
        ['ltv', '{ltv}'],
      ],
    ),
    send_resolution: step(
      ['SEND', 'CS', 'CS-Agent', 1],
      'Send the resolution to the customer.',
      {
        // The ticket is in the subject only, and subjects contain no spaces.
        ticket_id: { ...TICKET, normalise: ['space-to-underscore'] },
        customer_id: CUSTOMER,
        tone: TONE,
      },
      [
        ['to', ['{customer_id}']],
        ['subj', 'resolution_{ticket_id}'],
        ['flag_msg', 'resolution_sent'],
        ['tone', '{tone}'],
      ],
    ),
    log_resolution: step(
      ['LOG', 'CS', 'AUD-Agent', 3],
      'Log the outcome of a complaint.',
      { ticket_id: TICKET, status: text('the outcome', { default: 'resolved' }), actor: actor('CS-Agent') },
      [
        ['res', 'resolution'],
        ['filter', ['id={ticket_id}']],
        ['status', '{status}'],
        ['actor', '{actor}'],
      ],
    ),
  },
  sequences: {
    full_resolution: {
      summary: 'All steps of resolving a complaint.',
      inputs: ['customer_id', 'ticket_id', 'sentiment', 'ltv', 'goodwill'],
      steps: ['fetch_customer', 'triage_complaint', 'resolve_complaint', 'send_resolution', 'log_resolution'],
    },
  },
});
