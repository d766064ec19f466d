/** The options of `pegwire encode`. Defined here so that reading them loads no sessions, encoders or models. */
import { choice, flag, oneOf, optional, text, upTo, type Values, value } from '../../options/option.js';
import { RULES_OPTIONS } from '../../options/shared.js';
import { sessionOptions } from '../../session/options.js';

export const AGENT = 'sender';

const { now, ...session } = sessionOptions(
  AGENT,
  'the last session of --session, or else its file name; without --session a new one',
);

/** Options of JSON messages. */
export const FRAME_OPTIONS = {
  ...session,
  refs: flag('Read {"$ref":"warm.x"} as a reference to state, and not as data'),
  'keep-envelope': flag(
    'Keep sequence and session_id of the envelope, which must then be those of the session; the other fields are always kept',
  ),
};

/** Options of workflow steps, besides their inputs. */
export const WORKFLOW_OPTIONS = {
  workflow: text('ENCODER.STEP', 'Encode this step, for example payroll.fetch_employees; its inputs become options'),
  input: text('JSON', 'Inputs as a JSON object, in addition to those given as options'),
  compat: value('NAME', 'sdk: Encode as the reference SDK does, which omits some inputs', oneOf(['sdk'])),
  'receiver-knows-fields': flag('Omit field lists and data pointers that the receiver knows'),
};

/** Options of instructions in English. */
export const ENGLISH_OPTIONS = {
  english: optional(
    'TEXT',
    'Encode this instruction; without TEXT, or with - or only --domain, those of the file or stdin',
    (given) => given,
  ),
  domain: text('DOM', 'Domain of the packets (required): HR, FIN, SALES, LEGAL, IT, CS, MKT or another'),
  'return-agent': text('NAME', 'Agent that receives the result (default: that of the domain, for example HR-Agent)'),
  priority: choice('N', 'Priority: 1 (critical), 2 (medium, default) or 3 (low)', ['1', '2', '3'], () => '2'),
  registry: text(
    'FILE',
    "Registry of encoded instructions, a file or a postgres:// database (default: registry.db in the user's data folder); memory keeps it for this run only, none uses no registry",
  ),
  ...RULES_OPTIONS,
  model: text(
    'NAME',
    'Model for new instructions: anthropic:NAME or openai:NAME, with the key in ANTHROPIC_API_KEY or OPENAI_API_KEY; or URL#NAME, a ' +
      'server with the Chat Completions API',
  ),
  'key-variable': text('NAME', 'Read the key of the model from this environment variable'),
  price: text('IN,OUT', 'Prices of the model in US dollars per million input and output tokens, for example 3,15'),
  threshold: value('N', 'Require this similarity of patterns, greater than 0 and at most 1', upTo(1)),
  strict: flag('Reject packets of the model with values that the instruction does not contain'),
  explain: flag('Do not encode; show how the instruction would be encoded, and the nearest patterns'),
};

export const ENCODE_OPTIONS = { now, ...FRAME_OPTIONS, ...WORKFLOW_OPTIONS, ...ENGLISH_OPTIONS };

export type EncodeOptions = Values<typeof ENCODE_OPTIONS>;
