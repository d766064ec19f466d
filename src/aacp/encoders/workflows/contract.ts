import { defineWorkflow } from '../define-workflow.js';
import { actor, step, text } from '../inputs.js';

const CONTRACT_TYPE = text('the type of contract', { normalise: ['upper-case'], example: 'NDA' });
const PARTY = text('the counterparty', { normalise: ['space-to-hyphen'], example: 'Acme Ltd' });

/** Reviews a contract in three steps. */
export const ContractEncoder = defineWorkflow({
  name: 'ContractEncoder',
  alias: 'contract',
  summary: 'Contracts: request a review, flag a clause, log.',
  steps: {
    request_review: step(
      ['FLAG', 'LEGAL', 'LEG-Agent', 1],
      'Request the review of a contract.',
      {
        contract_type: CONTRACT_TYPE,
        party: PARTY,
        risk_level: text('the level of risk', { default: 'medium', normalise: ['lower-case'] }),
      },
      [
        ['type', '{contract_type}'],
        ['party', '{party}'],
        ['risk', '{risk_level}'],
        ['req', 'clause_review,risk_assess,sign_recommend'],
      ],
    ),
    flag_clause: step(
      ['FLAG', 'LEGAL', 'LEG-Agent', 1],
      'Flag a clause for a senior review.',
      {
        contract_type: CONTRACT_TYPE,
        party: PARTY,
        clause_ref: text('the clause', { example: 's7' }),
        issue: text('the problem with the clause', {
          normalise: ['space-to-underscore', 'lower-case'],
          example: 'ip_rights_restriction',
        }),
        risk: text('the level of risk', { default: 'high', normalise: ['lower-case'] }),
        block_action: text('the action that is blocked until the review', { default: 'signature' }),
      },
      [
        ['type', '{contract_type}'],
        ['party', '{party}'],
        ['clause', '{clause_ref}'],
        ['issue', '{issue}'],
        ['risk', '{risk}'],
        ['block', '{block_action}'],
        ['req', 'senior_review'],
      ],
    ),
    log_review: step(
      ['LOG', 'LEGAL', 'AUD-Agent', 2],
      'Log a review.',
      {
        contract_type: CONTRACT_TYPE,
        party: PARTY,
        risk: text('the level of risk', { normalise: ['lower-case'], example: 'high' }),
        recommendation: text('the recommendation of the review', { example: 'negotiate' }),
        actor: actor('LEG-Agent'),
      },
      [
        ['type', '{contract_type}'],
        ['party', '{party}'],
        ['risk', '{risk}'],
        ['status', '{recommendation}'],
        ['actor', '{actor}'],
      ],
    ),
  },
});
