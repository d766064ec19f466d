import { UsageError } from '../../io/errors.js';
import { peekOption } from '../../options/arguments.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { ENCODE_OPTIONS, ENGLISH_OPTIONS, FRAME_OPTIONS, WORKFLOW_OPTIONS } from './options.js';

export const command = defineCommand({
  takes: 'messages',
  options: ENCODE_OPTIONS,
  optionGroups: [
    { protocol: 'accp', title: 'of accp: messages as JSON, one a line', options: FRAME_OPTIONS },
    { protocol: 'aacp', title: 'of aacp: a step of a workflow', options: WORKFLOW_OPTIONS },
    { protocol: 'aacp', title: 'of aacp: instructions in English, one a line', options: ENGLISH_OPTIONS },
  ],
  optionsFor: async (args) => {
    const workflow = peekOption(args, 'workflow');
    return workflow === undefined ? null : (await import('./steps.js')).stepOptions(workflow);
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
  run: async (invocation) => {
    // Each is loaded separately: sessions, encoders, models.
    if (invocation.protocol.name === 'accp') return (await import('./frames.js')).encodeLines(invocation);
    if (invocation.options.workflow !== undefined) return (await import('./steps.js')).encodeSteps(invocation);
    checkEnglish(invocation);
    return (await import('./english.js')).encodeInstructions(invocation);
  },
});

function checkEnglish({ given }: Invocation): void {
  const alien = Object.keys(WORKFLOW_OPTIONS).find((option) => option in given);
  if (alien !== undefined) throw new UsageError(`--${alien} goes with --workflow`);
  if (!('english' in given || 'domain' in given))
    throw new UsageError('encode aacp needs --workflow ENCODER.STEP, or --english with --domain');
}
