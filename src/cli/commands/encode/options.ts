/** The options of `pegwire encode`. No session, encoder or model is loaded for them. */
import { choice, flag, oneOf, optional, text, upTo, type Values, value } from '../../options/option.js';
import { RULES_OPTIONS } from '../../options/shared.js';
import { sessionOptions } from '../../session/options.js';

export const AGENT = 'sender';

const { now, ...session } = sessionOptions(
  AGENT,
  'the last one of the file, or one of its name; without a file, a new one',
);

/** For messages as JSON. */
export const FRAME_OPTIONS = {
  ...session,
  refs: flag('take {"$ref":"warm.x"} for a reference to state; without, it is data'),
  'keep-envelope': flag(
    'keep sequence and session_id of an envelope, too, which then have to be those of the session; msg_id, timestamp and ' +
      'the rest are kept anyway',
  ),
};

/** For steps of workflows, beside their inputs. */
export const WORKFLOW_OPTIONS = {
  workflow: text('ENCODER.STEP', 'such as payroll.fetch_employees; its inputs are options, too'),
  input: text('JSON', 'the inputs as an object; options stand for what it leaves out'),
  compat: value('NAME', 'sdk: the packets of the reference SDK, which leaves inputs out', oneOf(['sdk'])),
  'receiver-knows-fields': flag('leave out lists of fields and pointers to data, which the receiver has'),
};

/** For instructions in English. */
export const ENGLISH_OPTIONS = {
  english: optional(
    'TEXT',
    'one instruction, or - for those of stdin; without TEXT, or with --domain alone, those of the file or of stdin',
    (given) => given,
  ),
  domain: text('DOM', 'of the packets: HR, FIN, SALES, LEGAL, IT, CS, MKT, or one of your own'),
  'return-agent': text('NAME', "who gets the result; by default the domain's: HR-Agent"),
  priority: choice('N', '1 critical, 2 medium (default), 3 low', ['1', '2', '3'], () => '2'),
  registry: text(
    'FILE',
    "what was encoded before; memory: for this run only; none; by default registry.db in the user's data folder",
  ),
  ...RULES_OPTIONS,
  model: text(
    'NAME',
    'who is asked for what is novel: anthropic:NAME, openai:NAME, with the key in ANTHROPIC_API_KEY or OPENAI_API_KEY; or ' +
      'URL#NAME, a server that speaks Chat Completions',
  ),
  'key-variable': text('NAME', 'the environment variable with the key of the model, instead'),
  price: text('IN,OUT', 'US dollars per million tokens of the model'),
  threshold: value('N', 'how alike a pattern has to be, above 0 and up to 1', upTo(1)),
  strict: flag('refuse packets of a model with values that the instruction does not state'),
  explain: flag('ask no model: tell what would happen, and which patterns came near'),
};

export const ENCODE_OPTIONS = { now, ...FRAME_OPTIONS, ...WORKFLOW_OPTIONS, ...ENGLISH_OPTIONS };

export type EncodeOptions = Values<typeof ENCODE_OPTIONS>;
