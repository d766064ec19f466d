import { WORKFLOW_OPTIONS } from '../../aacp/workflow-options.js';
import { NOW_OPTION } from '../../now.js';
import { type Command, type Invocation, peekOption, UsageError } from '../../options/command.js';
import { sessionOptions } from '../../session/options.js';
import { FALLBACK_OPTIONS } from './options.js';

const AGENT = 'sender';

const { now: _, ...SESSION_OPTIONS } = sessionOptions(
  AGENT,
  'the last one of the file, or one of its name; without a file, a new one',
);

/** `pegwire encode`: messages as JSON to frames, through a session; steps of workflows and instructions to packets. */
export const encode: Command = {
  name: 'encode',
  summary: 'messages as JSON to frames, through a session; workflow steps and English to packets',
  takesInput: true,
  options: { now: NOW_OPTION },
  optionGroups: [
    {
      protocol: 'accp',
      title: 'of accp: messages as JSON, one a line',
      options: {
        ...SESSION_OPTIONS,
        refs: { type: 'boolean', description: 'take {"$ref":"warm.x"} for a reference to state; without, it is data' },
        'keep-envelope': {
          type: 'boolean',
          description:
            'keep sequence and session_id of an envelope, too, which then have to be those of the session; msg_id, ' +
            'timestamp and the rest are kept anyway',
        },
      },
    },
    { protocol: 'aacp', title: 'of aacp: a step of a workflow', options: WORKFLOW_OPTIONS },
    { protocol: 'aacp', title: 'of aacp: instructions in English, one a line', options: FALLBACK_OPTIONS },
  ],
  optionsFor: async (args) => {
    const workflow = peekOption(args, 'workflow');
    if (workflow === undefined) return null;
    const { stepOptions } = await import('../aacp/steps.js');
    return stepOptions(workflow);
  },
  details: [
    'A message has intent and operation, and may have agent, schema, payload and envelope, under the full names of ' +
      'their fields; a JSON text is what somebody says in a chat. Integers of any size are JSON numbers with all of ' +
      'their digits.',
    'A step takes its inputs as options (lists with commas), as JSON with --input, or as one JSON object a line of the ' +
      'file; of stdin where no option gives one. pegwire aacp workflows lists the steps with their inputs.',
    'An instruction that came before, or that a rule covers, costs nothing; any other is put to the model, and the ' +
      'packet is kept in the registry.',
  ],
  example: [
    `echo '{"intent":"req","operation":"find","payload":{"query":"cats"}}' | pegwire encode accp`,
    'pegwire encode aacp --workflow payroll.fetch_employees --period 2024-08',
    "pegwire encode aacp --english 'Retrieve the employee salary records for August 2024' --domain HR",
  ],
  run: async (invocation) => (invocation.protocol.name === 'accp' ? toFrames(invocation) : toPackets(invocation)),
};

// Loaded only when it is needed: the other commands need none of it.

async function toFrames(invocation: Invocation): Promise<number> {
  const { options } = invocation;
  const reading = { refs: options['refs'] === true, keepEnvelope: options['keep-envelope'] === true };
  const { encodeLines } = await import('./frames.js');
  return encodeLines(invocation, reading, AGENT);
}

async function toPackets(invocation: Invocation): Promise<number> {
  const { options } = invocation;
  if (options['workflow'] !== undefined) {
    const { encodeSteps } = await import('./steps.js');
    return encodeSteps(invocation);
  }
  const alien = Object.keys(WORKFLOW_OPTIONS).find((option) => options[option] !== undefined);
  if (alien !== undefined) throw new UsageError(`--${alien} goes with --workflow`);
  if (options['english'] === undefined && options['domain'] === undefined)
    throw new UsageError('encode aacp needs --workflow ENCODER.STEP, or --english with --domain');
  const { encodeInstructions } = await import('./english.js');
  return encodeInstructions(invocation);
}
