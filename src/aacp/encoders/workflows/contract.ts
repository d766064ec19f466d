import { defineWorkflow } from '../define-workflow.js';
import { actor, step, text } from '../inputs.js';

const CONTRACT_TYPE = text('the kind of contract', { normalise: ['upper-case'], example: 'NDA' });
const PARTY = text('the other party', { normalise: ['space-to-hyphen'], example: 'Acme Ltd' });

/** The review of a contract in three steps. */
export const ContractEncoder = defineWorkflow({
  name: 'ContractEncoder',
  alias: 'contract',
  summary: 'Contracts: ask for a review, flag a clause, log.',
  steps: {
    request_review: step(
      ['FLAG', 'LEGAL', 'LEG-Agent', 1],
      'Ask for the review of a contract.',
      {
        contract_type: CONTRACT_TYPE,
        party: PARTY,
        risk_level: text('how high the risk is', { default: 'medium', normalise: ['lower-case'] }),
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
        issue: text('what is wrong with it', {
          normalise: ['space-to-underscore', 'lower-case'],
          example: 'ip_rights_restriction',
        }),
        risk: text('how high the risk is', { default: 'high', normalise: ['lower-case'] }),
        block_action: text('what has to wait for the review', { default: 'signature' }),
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
        risk: text('how high the risk is', { normalise: ['lower-case'], example: 'high' }),
        recommendation: text('what the review recommends', { example: 'negotiate' }),
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
