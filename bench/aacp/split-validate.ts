/** Validation as a straightforward port of the reference SDK has it: `split('|')`, a map, and lists of messages. */
const TASKS = new Set('FETCH PROC FLAG RESOLVE LOG SEND BUILD MERGE CALC REPORT ACK SYNC'.split(' '));
const DOMAINS = new Set('HR FIN SALES LEGAL IT CS MKT'.split(' '));
const PRIORITIES = new Set(['1', '2', '3']);
const KNOWN_KEYS = new Set(
  (
    'return p aacp res period filter fields fmt src src_prev rules validate tmpl data_ptr amt ccy sup match terms type ' +
    'party clause issue risk block flags req highlight status to subj att flag_msg tone sentiment actor chain prog ltv ' +
    'loyalty urgency'
  ).split(' '),
);

export interface SplitVerdict {
  readonly valid: boolean;
  readonly errors: string[];
  readonly warnings: string[];
}

/** The named fields of slots that were trimmed; the last one of a key counts. */
export function fieldsOf(slots: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (const slot of slots.slice(2)) {
    const colon = slot.indexOf(':');
    if (colon < 0) continue;
    fields.set(slot.slice(0, colon).trim().toLowerCase(), slot.slice(colon + 1).trim());
  }
  return fields;
}

export function splitValidate(packet: string): SplitVerdict {
  const errors: string[] = [];
  const warnings: string[] = [];
  if (packet.trim() === '') return { valid: false, errors: ['The packet is empty.'], warnings };
  const slots = packet.split('|').map((slot) => slot.trim());
  if (slots.length < 3) return { valid: false, errors: ['The packet is too short.'], warnings };

  const [task = '', domain = ''] = slots;
  if (task === '') errors.push('There is no TASK.');
  else if (!TASKS.has(task)) errors.push(`The TASK '${task}' is none of ${[...TASKS].join(', ')}.`);
  if (domain === '') errors.push('There is no DOM.');
  else if (!DOMAINS.has(domain)) errors.push(`The DOM '${domain}' is none of ${[...DOMAINS].join(', ')}.`);

  const fields = fieldsOf(slots);
  if (!fields.has('return')) errors.push('There is no return field.');
  const version = fields.get('aacp');
  if (version === undefined) warnings.push('There is no aacp field.');
  else if (version !== '1.1') warnings.push(`The version is '${version}', not 1.1.`);
  const priority = fields.get('p');
  if (priority !== undefined && !PRIORITIES.has(priority)) warnings.push(`The priority '${priority}' is unknown.`);
  for (const key of fields.keys()) if (!KNOWN_KEYS.has(key)) warnings.push(`The field '${key}' is unknown.`);
  if (fields.has('sentiment') && !fields.has('tone')) warnings.push('There is a sentiment, but no tone.');
  if (fields.has('ltv') && !fields.has('ccy')) warnings.push('There is an ltv, but no ccy.');
  return { valid: errors.length === 0, errors, warnings };
}
