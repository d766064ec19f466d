/** The lists of the draft (draft-mackay-aacp-01, sections 4.2 to 5.3), written independently of the vocabulary under test. */

/** Section 5.1. */
export const TASKS = words('FETCH PROC FLAG RESOLVE LOG SEND BUILD MERGE CALC REPORT ACK SYNC');
/** Section 5.2. */
export const DOMAINS = words('HR FIN SALES LEGAL IT CS MKT');
/** Section 5.3. */
export const PRIORITIES = words('1 2 3');
/** Section 4.3. */
export const EXTENDED_KEYS = words(
  'src src_prev rules validate tmpl data_ptr amt ccy sup match terms type party clause issue risk block flags req ' +
    'highlight status to subj att flag_msg tone sentiment actor chain prog ltv loyalty urgency',
);

/** The packets of section 4.4, in the lines in which the draft prints them. */
export const EXAMPLES: readonly (readonly [name: string, ...lines: readonly string[]])[] = [
  [
    'fetch active employee salary records',
    'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|',
    'period:2024-08|filter:status=active|fmt:json',
  ],
  [
    'merge datasets and calculate payroll',
    'MERGE|HR|return:HR-Agent|p:1|aacp:1.1|rules:payroll_v2|',
    'validate:budget_cc',
  ],
  [
    'flag a legal clause for review',
    'FLAG|LEGAL|return:LEG-Agent|p:1|aacp:1.1|type:NDA|',
    'party:Acme-Ltd|clause:s7|issue:ip_rights_restriction|',
    'risk:high|block:signature',
  ],
  [
    'build IT user account',
    'BUILD|IT|return:IT-Agent|p:1|aacp:1.1|res:ad_account|',
    'filter:usr=j.smith|fields:email,dept,grp,pwd_reset',
  ],
  [
    'process supplier invoice',
    'PROC|FIN|return:FIN-Agent|p:2|aacp:1.1|res:invoice|',
    'sup:ABC-Ltd|amt:4200|ccy:GBP|match:PO-441|terms:net30',
  ],
  [
    'write deterministic audit record',
    'LOG|HR|return:AUD-Agent|p:2|aacp:1.1|actor:ORCHESTRATOR|',
    'chain:HR-AGENT,FIN-AGENT,HR-AGENT,HR-AGENT|',
    'status:review_required',
  ],
];

/** A packet with all required fields, to which fields can be added. */
export const HEAD = 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1';

function words(text: string): readonly string[] {
  return text.split(' ');
}
