/** The raw encoder, for any TASK and DOM, field by field, with the arguments of the reference SDK. */
import type { Words } from '../../text/ascii.js';
import { didYouMean } from '../../text/suggest.js';
import { quotedShort } from '../../text/visible.js';
import { DOMAINS, TASKS, WORD } from '../vocabulary.js';
import type { EngineStep } from './compile-slots.js';
import { defineRaw } from './define-workflow.js';
import type { EncodeOptions, FieldDefinition, Priority } from './definition.js';
import { anyList, anyNumber, anyText, anyTextOrNumber, refuseNoCurrency, withCommonInputs } from './inputs.js';
import type { Normalisation } from './normalise.js';
import type { EngineInput, Refusal } from './plan.js';
import { pythonText, pythonTwoDecimals } from './read-value.js';
import type { StepResult } from './result.js';

type Text = string | null | undefined;
type List = readonly string[] | null | undefined;
type Amount = string | number | null | undefined;

/** The arguments of `RuleBasedEncoder.encode`, with the names of the reference SDK. */
export interface RawArgs {
  /** The TASK, which is written in capital letters. Private words are allowed (section 5.1). */
  readonly task: string;
  /** The DOM, which is written in capital letters. Private words are allowed (section 5.2). */
  readonly domain: string;
  /** The agent that receives the result: the field `return`. */
  readonly return_agent: string;
  /** The priority: the field `p`. @default 2 */
  readonly priority?: Priority | null | undefined;
  /** The resource that the action applies to. */
  readonly res?: Text;
  /** A time period: `2024-08`. */
  readonly period?: Text;
  /** A filter expression on the resource: the field `filter`. */
  readonly filter_expr?: Text;
  /** The fields to return. */
  readonly fields?: List;
  /** The format of the response: `json`. */
  readonly fmt?: Text;
  /** The sources of the data. */
  readonly src?: List;
  /** The source of the data of the previous period. */
  readonly src_prev?: Text;
  /** The rules to apply. */
  readonly rules?: Text;
  /** The rules or data to validate against. */
  readonly validate?: Text;
  /** The template to use: the field `tmpl`. */
  readonly template?: Text;
  /** A pointer to data that must not be in the packet. */
  readonly data_ptr?: Text;
  /** An amount of money. */
  readonly amt?: Amount;
  /** The currency of `amt` or `ltv`. */
  readonly ccy?: Text;
  /** The supplier: the field `sup`. */
  readonly supplier?: Text;
  /** The document to match against. */
  readonly match?: Text;
  /** The terms of payment. */
  readonly terms?: Text;
  /** The type of a document: the field `type`. */
  readonly doc_type?: Text;
  /** The counterparty. */
  readonly party?: Text;
  /** The clause of a document. */
  readonly clause?: Text;
  /** The problem that was found. */
  readonly issue?: Text;
  /** The level of risk. */
  readonly risk?: Text;
  /** The action that stays blocked. */
  readonly block?: Text;
  /** Conditions to flag. */
  readonly flags?: List;
  /** Actions that are required. */
  readonly req?: List;
  /** The content to highlight. */
  readonly highlight?: Text;
  /** The outcome. */
  readonly status?: Text;
  /** The recipients. */
  readonly to?: List;
  /** The subject of a message. */
  readonly subj?: Text;
  /** The attachments. */
  readonly att?: Text;
  /** The message of a flag. */
  readonly flag_msg?: Text;
  /** The mood of the counterparty. Requires `tone` (section 7). */
  readonly sentiment?: Text;
  /** The tone for human readers. */
  readonly tone?: Text;
  /** Progress, from 0 to 1. */
  readonly prog?: Amount;
  /** The agent or person that acted. */
  readonly actor?: Text;
  /** The agents that were involved, in order. */
  readonly chain?: List;
  /** The lifetime value of a customer. Requires `ccy` (section 7). */
  readonly ltv?: Amount;
  /** The loyalty level of a customer. */
  readonly loyalty?: Text;
  /** The urgency of the request. */
  readonly urgency?: Text;
}

/** An encoder of single packets. */
export interface RawEncoder {
  /**
   * Encodes a packet field by field, in the order of the reference SDK. Private TASK and DOM words are reported in `diagnostics`. With
   * `compat: 'sdk'`, accepts everything that the SDK accepts, except "|" in a value; `diagnostics` contains the findings of the validator.
   * @throws EncodeError if an input cannot be written; `path` names it
   */
  readonly encode: (args: RawArgs, options?: EncodeOptions) => StepResult;
}

/** Makes the input for TASK or DOM: a word of the draft and, unless in compat mode, a private one. */
function headInput(code: 'bad-task' | 'bad-dom', description: string, words: readonly string[]): EngineInput {
  const refuse = (word: string, compat: boolean): Refusal | null => {
    if (word === '') return { code: 'missing-input', message: 'is missing', help: description };
    if (compat ? words.includes(word) : WORD.test(word)) return null;
    const message = `${quotedShort(word)} is not a word ${compat ? 'of the draft' : 'in capital letters'}`;
    return { code, message, help: didYouMean(word, words) };
  };
  return { schema: anyText, description, normalise: ['upper-case'], refuse };
}

const optional = { optional: true } as const;

function text(description: string, ...normalise: readonly Normalisation[]): EngineInput {
  return { schema: anyText, description, normalise, ...optional };
}

function list(description: string): EngineInput {
  return { schema: anyList, list: true, description, ...optional };
}

function amount(description: string, more: Partial<EngineInput> = {}): EngineInput {
  return { schema: anyTextOrNumber, decimal: true, description, ...optional, ...more };
}

/** The inputs by argument, in the order of the fields. */
const INPUTS: { readonly [input: string]: EngineInput } = {
  task: headInput('bad-task', 'the action', Object.keys(TASKS)),
  domain: headInput('bad-dom', 'the business domain', Object.keys(DOMAINS)),
  res: text('the resource'),
  period: { ...text('the period, as YYYY-MM'), period: true },
  filter_expr: text('the filter'),
  fields: list('the fields to return'),
  fmt: text('the format'),
  src: list('the sources of the data'),
  src_prev: text('the source of the data of the previous period'),
  rules: text('the rules to apply'),
  validate: text('the rules or data to validate against'),
  template: text('the template'),
  data_ptr: text('the pointer to the data'),
  // The reference SDK omits zero.
  amt: amount('the amount', { compatText: (value) => (value === 0 ? null : pythonText(value)) }),
  ccy: { ...text('the currency, as three letters', 'upper-case'), refuse: refuseNoCurrency },
  supplier: text('the supplier', 'space-to-hyphen'),
  match: text('the document to match against'),
  terms: text('the terms of payment'),
  doc_type: text('the type of document', 'upper-case'),
  party: text('the counterparty', 'space-to-hyphen'),
  clause: text('the clause'),
  issue: text('the problem', 'space-to-underscore', 'lower-case'),
  risk: text('the level of risk', 'lower-case'),
  block: text('the action that is blocked'),
  flags: list('flags'),
  flags_inherit: { ...list('flags of earlier steps'), compatOnly: 'the draft does not define this field; use "flags"' },
  req: list('the required actions'),
  highlight: text('the content to highlight'),
  status: text('the outcome'),
  to: list('the recipients'),
  subj: text('the subject', 'space-to-underscore'),
  att: text('the attachment'),
  flag_msg: text('a message', 'space-to-underscore'),
  sentiment: { ...text('the mood of the counterparty', 'lower-case'), requires: 'tone' },
  tone: text('the tone of the answer', 'lower-case'),
  prog: amount('the progress', { compatSchema: anyNumber, compatText: pythonTwoDecimals }),
  actor: text('the agent or person that acted'),
  chain: list('the agents that took part, in order'),
  ltv: amount('the lifetime value of the customer', { requires: 'ccy' }),
  loyalty: text('the loyalty level'),
  urgency: text('the urgency of the request'),
};

const KEYS: Words = { filter_expr: 'filter', template: 'tmpl', supplier: 'sup', doc_type: 'type' };

function fieldsOf(inputs: typeof INPUTS): readonly FieldDefinition[] {
  const names = Object.keys(inputs).filter((name) => name !== 'task' && name !== 'domain');
  return names.map((name) => [KEYS[name] ?? name, inputs[name]?.list ? [`{${name}}`] : `{${name}}`]);
}

const STEP: EngineStep = {
  summary: 'A packet field by field.',
  task: '',
  domain: '',
  headFromInputs: true,
  lenient: true,
  inputs: withCommonInputs({ inputs: INPUTS }),
  fields: fieldsOf(INPUTS),
};

/** The encoder of single packets with any TASK and DOM. */
export const RuleBasedEncoder: RawEncoder = defineRaw(
  { name: 'RuleBasedEncoder', alias: 'rule_based', summary: 'Single packets, field by field.', steps: {} },
  'encode',
  STEP,
) as RawEncoder;
