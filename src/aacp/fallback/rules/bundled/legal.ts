/** Rules for legal. */
import type { BundledRule } from './bundled-rule.js';

export const LEGAL_RULES: readonly BundledRule[] = [
  {
    id: 'legal-review-nda',
    name: 'Review an NDA',
    description: 'Has an agreement on confidentiality reviewed clause by clause, with its risk and a recommendation.',
    task: 'FLAG',
    dom: 'LEGAL',
    packet:
      'FLAG|LEGAL|return:LEG-Agent|p:1|aacp:1.1|type:NDA|party:{party}|req:clause_review,risk_assess,sign_recommend',
    tags: ['nda', 'contract', 'review', 'confidentiality'],
    phrases: [
      'flag the NDA with {party:name} for legal review',
      'flag the NDA with {party:name} for a clause review, a risk assessment and a signing recommendation',
    ],
  },
  {
    id: 'legal-review-nda-with-risk',
    name: 'Review an NDA of a known risk',
    description: 'As the review of an NDA, where somebody has already said how risky it looks.',
    task: 'FLAG',
    dom: 'LEGAL',
    packet:
      'FLAG|LEGAL|return:LEG-Agent|p:1|aacp:1.1|type:NDA|party:{party}|risk:{risk}|req:clause_review,risk_assess,sign_recommend',
    tags: ['nda', 'contract', 'review', 'risk'],
    phrases: [
      'flag the NDA with {party:name} for legal review, risk level {risk:text}',
      'request a legal review of the NDA with {party:name} at risk level {risk:text}',
    ],
    workflow: {
      encoder: 'ContractEncoder',
      method: 'request_review',
      args: { contract_type: 'NDA', party: '{party}', risk_level: '{risk}' },
    },
  },
  {
    id: 'legal-review-contract',
    name: 'Review a contract',
    description: 'Has a contract of medium risk reviewed clause by clause before it is signed.',
    task: 'FLAG',
    dom: 'LEGAL',
    packet:
      'FLAG|LEGAL|return:LEG-Agent|p:1|aacp:1.1|type:CONTRACT|party:{party}|risk:medium|req:clause_review,risk_assess,sign_recommend',
    tags: ['contract', 'review', 'risk', 'clauses', 'legal'],
    phrases: [
      'review the contract with {party:name}, medium risk',
      'flag the medium-risk contract with {party:name} for legal review',
      'request a legal review of the contract with {party:name}, risk level medium',
    ],
    workflow: {
      encoder: 'ContractEncoder',
      method: 'request_review',
      args: { contract_type: 'CONTRACT', party: '{party}', risk_level: 'medium' },
    },
  },
  {
    id: 'legal-flag-clause',
    name: 'Flag a clause',
    description: 'Stops the signature of an NDA for a clause of high risk, and asks for a senior review.',
    task: 'FLAG',
    dom: 'LEGAL',
    packet:
      'FLAG|LEGAL|return:LEG-Agent|p:1|aacp:1.1|type:NDA|party:{party}|clause:{clause}|issue:{issue}|risk:high|block:signature|req:senior_review',
    tags: ['clause', 'nda', 'contract', 'risk', 'signature'],
    phrases: [
      'flag clause {clause:text} of the NDA with {party:name} as high risk for {issue:text} and block the signature pending senior review',
      'flag clause {clause:text} in the {party:name} NDA as high risk, issue {issue:text}, block the signature and request a senior review',
    ],
    workflow: {
      encoder: 'ContractEncoder',
      method: 'flag_clause',
      args: { contract_type: 'NDA', party: '{party}', clause_ref: '{clause}', issue: '{issue}' },
    },
  },
  {
    id: 'legal-log-review',
    name: 'Log a contract review',
    description: 'The audit record of a review, with its risk and its recommendation.',
    task: 'LOG',
    dom: 'LEGAL',
    packet:
      'LOG|LEGAL|return:AUD-Agent|p:2|aacp:1.1|type:NDA|party:{party}|risk:{risk}|status:{recommendation}|actor:LEG-Agent',
    tags: ['nda', 'contract', 'review', 'audit', 'recommendation'],
    phrases: [
      'log the review of the NDA with {party:name} with risk {risk:text} and recommendation {recommendation:text}',
      'log the NDA review for {party:name}: risk {risk:text}, recommendation {recommendation:text}',
    ],
    workflow: {
      encoder: 'ContractEncoder',
      method: 'log_review',
      args: { contract_type: 'NDA', party: '{party}', risk: '{risk}', recommendation: '{recommendation}' },
    },
  },
  {
    id: 'legal-fetch-expiring-contracts',
    name: 'Fetch contracts that expire',
    description: 'Contracts that end within a number of days, so that renewal or notice is not missed.',
    task: 'FETCH',
    dom: 'LEGAL',
    packet: 'FETCH|LEGAL|return:LEG-Agent|p:2|aacp:1.1|res:contracts|filter:expiry_days<={days}',
    tags: ['contracts', 'expiry', 'renewal', 'notice'],
    phrases: [
      'fetch all contracts that expire within {days:number} days',
      'list the contracts expiring in the next {days:number} days',
    ],
  },
  {
    id: 'legal-fetch-contract',
    name: 'Fetch a contract',
    description: 'One contract by its number.',
    task: 'FETCH',
    dom: 'LEGAL',
    packet: 'FETCH|LEGAL|return:LEG-Agent|p:2|aacp:1.1|res:contract|filter:id={contract}',
    tags: ['contract', 'document'],
    phrases: ['fetch contract {contract:id}', 'retrieve the contract {contract:id}'],
  },
  {
    id: 'legal-process-access-request',
    name: 'Process a data subject access request',
    description: 'Handles what somebody asked for under data protection law.',
    task: 'PROC',
    dom: 'LEGAL',
    packet: 'PROC|LEGAL|return:LEG-Agent|p:1|aacp:1.1|res:dsar|filter:id={request}',
    tags: ['dsar', 'gdpr', 'privacy', 'data-protection'],
    phrases: ['process data subject access request {request:id}', 'handle DSAR {request:id}'],
  },
  {
    id: 'legal-send-for-signature',
    name: 'Send a contract for signature',
    description: 'Puts a contract before the other side to sign.',
    task: 'SEND',
    dom: 'LEGAL',
    packet: 'SEND|LEGAL|return:LEG-Agent|p:2|aacp:1.1|res:contract|filter:id={contract}|req:signature|to:{party}',
    tags: ['contract', 'signature', 'e-signature'],
    phrases: [
      'send contract {contract:id} to {party:name} for signature',
      'send {party:name} the contract {contract:id} to sign',
    ],
  },
];
