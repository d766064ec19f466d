/** Encoding in a straightforward port of the reference SDK: fields in a list, `join('|')`, validation by splitting. */
import { splitValidate } from './split-validate.js';

/** Keyword arguments of the SDK's encoder. */
export interface SplitFields {
  readonly task: string;
  readonly domain: string;
  readonly return_agent: string;
  readonly priority?: string | undefined;
  readonly amt?: string | number | null | undefined;
  readonly prog?: number | null | undefined;
  readonly ltv?: string | number | null | undefined;
  readonly [name: string]: Value;
}

type Value = string | number | readonly string[] | null | undefined;

export interface SplitPacket {
  readonly packet: string;
  readonly task: string;
  readonly domain: string;
  readonly tokensOfEnglish: number;
  readonly tokensOfPacket: number;
  readonly compressionLoss: 'none';
  readonly encoderType: 'rule_based';
  readonly cost: 0;
}

const hyphenated = (text: string): string => text.replaceAll(' ', '-');
const underscored = (text: string): string => text.replaceAll(' ', '_');

/** @throws Error if the packet is invalid */
export function splitEncode(fields: SplitFields): SplitPacket {
  const task = fields.task.toUpperCase();
  const domain = fields.domain.toUpperCase();
  const parts = [task, domain, `return:${fields.return_agent}`, `p:${fields.priority ?? '2'}`, 'aacp:1.1'];
  const add = (key: string, value: unknown): void => {
    if (typeof value === 'string' && value.trim() !== '') parts.push(`${key}:${value}`);
  };
  const shaped = (key: string, value: unknown, shape: (text: string) => string): void => {
    if (typeof value === 'string') add(key, shape(value));
  };
  const list = (key: string, value: unknown): void => {
    if (Array.isArray(value) && value.length > 0) add(key, value.join(','));
  };
  const lower = (text: string): string => text.toLowerCase();
  const upper = (text: string): string => text.toUpperCase();

  add('res', fields['res']);
  add('period', fields['period']);
  add('filter', fields['filter_expr']);
  list('fields', fields['fields']);
  add('fmt', fields['fmt']);
  list('src', fields['src']);
  add('src_prev', fields['src_prev']);
  add('rules', fields['rules']);
  add('validate', fields['validate']);
  add('tmpl', fields['template']);
  add('data_ptr', fields['data_ptr']);
  if (fields.amt) add('amt', String(fields.amt));
  shaped('ccy', fields['ccy'], upper);
  shaped('sup', fields['supplier'], hyphenated);
  add('match', fields['match']);
  add('terms', fields['terms']);
  shaped('type', fields['doc_type'], upper);
  shaped('party', fields['party'], hyphenated);
  add('clause', fields['clause']);
  shaped('issue', fields['issue'], (text) => lower(underscored(text)));
  shaped('risk', fields['risk'], lower);
  add('block', fields['block']);
  list('flags', fields['flags']);
  list('flags_inherit', fields['flags_inherit']);
  list('req', fields['req']);
  add('highlight', fields['highlight']);
  add('status', fields['status']);
  list('to', fields['to']);
  shaped('subj', fields['subj'], underscored);
  add('att', fields['att']);
  shaped('flag_msg', fields['flag_msg'], underscored);
  shaped('sentiment', fields['sentiment'], lower);
  shaped('tone', fields['tone'], lower);
  if (fields.prog !== undefined && fields.prog !== null) add('prog', fields.prog.toFixed(2));
  add('actor', fields['actor']);
  list('chain', fields['chain']);
  if (fields.ltv !== undefined && fields.ltv !== null) add('ltv', String(fields.ltv));
  add('loyalty', fields['loyalty']);
  add('urgency', fields['urgency']);

  const packet = parts.join('|');
  const { valid, errors } = splitValidate(packet);
  if (!valid) throw new Error(`The packet is invalid:\n${errors.join('\n')}\n${packet}`);
  return {
    ...{ packet, task, domain, compressionLoss: 'none', encoderType: 'rule_based', cost: 0 },
    tokensOfEnglish: 15 + 8 * parts.length,
    tokensOfPacket: Math.max(1, Math.floor(packet.length / 4)),
  };
}
