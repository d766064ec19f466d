/** Explanations in a straightforward port of the reference SDK, except that fields are read by key. */
import { fieldsOf } from './split-validate.js';

const VERBS: Readonly<Record<string, string>> = {
  FETCH: 'Retrieve',
  PROC: 'Process',
  FLAG: 'Flag for review',
  RESOLVE: 'Resolve',
  LOG: 'Log to audit trail',
  SEND: 'Send',
  BUILD: 'Build',
  MERGE: 'Merge',
  CALC: 'Calculate',
  REPORT: 'Generate report',
  ACK: 'Acknowledge',
  SYNC: 'Synchronise',
};
const DOMAINS: Readonly<Record<string, string>> = {
  HR: 'Human Resources',
  FIN: 'Finance',
  SALES: 'Sales',
  LEGAL: 'Legal',
  IT: 'IT & Infrastructure',
  CS: 'Customer Services',
  MKT: 'Marketing',
};
const PRIORITIES: Readonly<Record<string, string>> = {
  '1': 'critical priority',
  '2': 'medium priority',
  '3': 'low priority',
};
const RISKS: Readonly<Record<string, string>> = {
  low: 'low risk',
  medium: 'medium risk',
  high: 'high risk \u2014 review required',
  critical: 'critical risk \u2014 do not proceed without approval',
};
const STATUSES: Readonly<Record<string, string>> = {
  ok: 'completed successfully',
  review_required: 'completed \u2014 review required before proceeding',
  error: 'completed with errors',
  blocked: 'blocked \u2014 cannot proceed',
  negotiate: 'recommend negotiation',
  approve: 'approved to proceed',
};
const TONES: Readonly<Record<string, string>> = {
  empathetic: 'Use an empathetic, supportive tone',
  formal: 'Use a formal, professional tone',
  terse: 'Use a brief, direct tone',
};
/** Fields without a sentence of their own are shown unchanged. */
const REST = ['aacp', 'highlight', 'att', 'flag_msg', 'ltv', 'loyalty', 'urgency'];

export function splitExplain(packet: string): string {
  const slots = packet.split('|').map((slot) => slot.trim());
  const [task = '', domain = ''] = slots;
  const fields = fieldsOf(slots);
  const sentences: string[] = [];
  const add = (key: string, say: (value: string) => string): void => {
    const value = fields.get(key);
    if (value) sentences.push(`${say(value)}.`);
  };
  const verb = VERBS[task] ?? task;
  if (verb !== '') sentences.push(domain === '' ? `${verb}.` : `${verb} (${DOMAINS[domain] ?? domain} domain).`);

  add('res', (value) => `Resource: ${value.replaceAll('_', ' ')}`);
  add('period', (value) => `For period: ${value}`);
  add('filter', (value) => `Filter: ${value.replaceAll('=', ' = ')}`);
  add('fields', (value) => `Return fields: ${value.replaceAll(',', ' ')}`);
  add('fmt', (value) => `Format: ${value.toUpperCase()}`);
  add('src', (value) => `Source: ${value}`);
  add('src_prev', (value) => `Prior period: ${value}`);
  add('rules', (value) => `Apply rules: ${value.replaceAll('_', ' ')}`);
  add('validate', (value) => `Validate against: ${value}`);
  add('tmpl', (value) => `Template: ${value.replaceAll('_', ' ')}`);
  add('data_ptr', (value) => `Data reference: ${value}`);
  add('amt', (value) => `Amount: ${fields.has('ccy') ? `${fields.get('ccy')} ` : ''}${value}`);
  add('sup', (value) => `Supplier: ${value.replaceAll('-', ' ')}`);
  add('match', (value) => `Match against: ${value}`);
  add('terms', (value) => `Terms: ${value.replace('net', 'Net ')}`);
  add('party', (value) => `Counterparty: ${value.replaceAll('-', ' ')}`);
  add('type', (value) => `Document type: ${value}`);
  add('clause', (value) => `Clause: ${value}`);
  add('issue', (value) => `Issue: ${value.replaceAll('_', ' ')}`);
  add('risk', (value) => `Risk: ${RISKS[value] ?? value}`);
  add('block', (value) => `Blocked pending: ${value}`);
  add('flags', (value) => `Flags: ${value.replaceAll(',', ' ')}`);
  add('req', (value) => `Required actions: ${value.replaceAll(',', ' ')}`);
  add('to', (value) => `Send to: ${value.replaceAll(',', ' and ')}`);
  add('subj', (value) => `Subject: ${value.replaceAll('_', ' ')}`);
  add('sentiment', (value) => `Sentiment: ${value}`);
  add('tone', (value) => TONES[value] ?? `Tone: ${value}`);
  add('prog', (value) => `Progress: ${Math.round(Number(value) * 100)}%`);
  add('status', (value) => `Status: ${STATUSES[value] ?? value}`);
  add('actor', (value) => `Initiated by: ${value}`);
  add('chain', (value) => `Agent chain: ${value.replaceAll(',', ' > ')}`);
  add('p', (value) => `Priority: ${PRIORITIES[value] ?? value}`);
  add('return', (value) => `Return to: ${value}`);
  for (const key of REST) add(key, (value) => `${key.charAt(0).toUpperCase()}${key.slice(1)}: ${value}`);
  return sentences.length === 0 ? 'Empty or unrecognised packet.' : sentences.join(' ');
}
