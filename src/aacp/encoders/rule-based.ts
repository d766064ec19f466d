/** The raw encoder: any TASK and DOM, field by field, with the arguments of the reference SDK. */
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

/** The arguments of `RuleBasedEncoder.encode`, by the names that the reference SDK gives them. */
export interface RawArgs {
  /** Written in capitals, and may be a private word (section 5.1). */
  readonly task: string;
  /** Written in capitals, and may be a private word (section 5.2). */
  readonly domain: string;
  readonly return_agent: string;
  /** @default 2 */
  readonly priority?: Priority | null | undefined;
  readonly res?: Text;
  readonly period?: Text;
  /** The field `filter`. */
  readonly filter_expr?: Text;
  readonly fields?: List;
  readonly fmt?: Text;
  readonly src?: List;
  readonly src_prev?: Text;
  readonly rules?: Text;
  readonly validate?: Text;
  /** The field `tmpl`. */
  readonly template?: Text;
  readonly data_ptr?: Text;
  readonly amt?: Amount;
  readonly ccy?: Text;
  /** The field `sup`. */
  readonly supplier?: Text;
  readonly match?: Text;
  readonly terms?: Text;
  /** The field `type`. */
  readonly doc_type?: Text;
  readonly party?: Text;
  readonly clause?: Text;
  readonly issue?: Text;
  readonly risk?: Text;
  readonly block?: Text;
  readonly flags?: List;
  readonly req?: List;
  readonly highlight?: Text;
  readonly status?: Text;
  readonly to?: List;
  readonly subj?: Text;
  readonly att?: Text;
  readonly flag_msg?: Text;
  /** With it, a `tone` has to be given (section 7). */
  readonly sentiment?: Text;
  readonly tone?: Text;
  readonly prog?: Amount;
  readonly actor?: Text;
  readonly chain?: List;
  /** With it, a `ccy` has to be given (section 7). */
  readonly ltv?: Amount;
  readonly loyalty?: Text;
  readonly urgency?: Text;
}

/** The encoder of single packets. */
export interface RawEncoder {
  /**
   * Encodes a packet field by field, in the order of the reference SDK. Private TASK and DOM words give warnings in
   * `diagnostics`. With `compat: 'sdk'`, everything passes that the SDK accepts except "|" in a value; `diagnostics` has
   * what the validator says. @throws EncodeError naming the input
   */
  readonly encode: (args: RawArgs, options?: EncodeOptions) => StepResult;
}

/** A word at a fixed place: the draft's own and, outside of compat, private ones. */
function headInput(code: 'bad-task' | 'bad-dom', description: string, words: readonly string[]): EngineInput {
  const refuse = (word: string, compat: boolean): Refusal | null => {
    if (word === '') return { code: 'missing-input', message: 'is missing', help: description };
    if (compat ? words.includes(word) : WORD.test(word)) return null;
    const message = `${quotedShort(word)} is no ${compat ? 'word of the draft' : 'word in capitals'}`;
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

/** By argument, in the order of the fields. */
const INPUTS: { readonly [input: string]: EngineInput } = {
  task: headInput('bad-task', 'what is to be done', Object.keys(TASKS)),
  domain: headInput('bad-dom', 'the business domain', Object.keys(DOMAINS)),
  res: text('the resource'),
  period: { ...text('the period, as YYYY-MM'), period: true },
  filter_expr: text('the filter'),
  fields: list('the fields to return'),
  fmt: text('the format'),
  src: list('where the data come from'),
  src_prev: text('where the data of the period before come from'),
  rules: text('the rules to apply'),
  validate: text('what to validate against'),
  template: text('the template'),
  data_ptr: text('where the data are'),
  // The reference SDK ignores zero.
  amt: amount('the amount', { compatText: (value) => (value === 0 ? null : pythonText(value)) }),
  ccy: { ...text('the currency, as three letters', 'upper-case'), refuse: refuseNoCurrency },
  supplier: text('the supplier', 'space-to-hyphen'),
  match: text('what has to match'),
  terms: text('the terms of payment'),
  doc_type: text('the kind of document', 'upper-case'),
  party: text('the other party', 'space-to-hyphen'),
  clause: text('the clause'),
  issue: text('what is wrong', 'space-to-underscore', 'lower-case'),
  risk: text('how high the risk is', 'lower-case'),
  block: text('what has to wait'),
  flags: list('flags'),
  flags_inherit: { ...list('flags of earlier steps'), compatOnly: 'it is no field of the draft; give them as "flags"' },
  req: list('what is required'),
  highlight: text('what to highlight'),
  status: text('how it ended'),
  to: list('who gets it'),
  subj: text('the subject', 'space-to-underscore'),
  att: text('the attachment'),
  flag_msg: text('a message', 'space-to-underscore'),
  sentiment: { ...text('how the other side feels', 'lower-case'), requires: 'tone' },
  tone: text('the tone of the answer', 'lower-case'),
  prog: amount('the progress', { compatSchema: anyNumber, compatText: pythonTwoDecimals }),
  actor: text('the agent that did it'),
  chain: list('the agents that took part, in order'),
  ltv: amount('what the customer is worth over the years', { requires: 'ccy' }),
  loyalty: text('the loyalty level'),
  urgency: text('how urgent it is'),
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

/** The encoder of single packets, of any TASK and DOM. */
export const RuleBasedEncoder: RawEncoder = defineRaw(
  { name: 'RuleBasedEncoder', alias: 'rule_based', summary: 'Single packets, field by field.', steps: {} },
  'encode',
  STEP,
) as RawEncoder;
