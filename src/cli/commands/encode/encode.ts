import { UsageError } from '../../io/errors.js';
import { peekOption } from '../../options/arguments.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { ENCODE_OPTIONS, ENGLISH_OPTIONS, FRAME_OPTIONS, WORKFLOW_OPTIONS } from './options.js';

export const command = defineCommand({
  takes: 'messages',
  options: ENCODE_OPTIONS,
  optionGroups: [
    { protocol: 'accp', title: 'for accp: JSON messages, one per line', options: FRAME_OPTIONS },
    { protocol: 'aacp', title: 'for aacp: a workflow step', options: WORKFLOW_OPTIONS },
    { protocol: 'aacp', title: 'for aacp: instructions in English, one per line', options: ENGLISH_OPTIONS },
  ],
  optionsFor: async (args) => {
    const workflow = peekOption(args, 'workflow');
    return workflow === undefined ? null : (await import('./steps.js')).stepOptions(workflow);
  },
  details: [
    'A message has intent and operation, and may have agent, schema, payload and envelope, with the full names of their fields. A ' +
      'JSON string is a chat message. Integers of any size keep all of their digits.',
    'A step takes its inputs as options (lists separated by commas), as a JSON object with --input, or as one JSON object per line of ' +
      'the file or stdin. "pegwire aacp workflows" lists the steps and their inputs.',
    'An instruction that is in the registry or that a rule covers is encoded without a model. Any other is sent to the model, and its ' +
      'packet is stored in the registry.',
  ],
  example: [
    `echo '{"intent":"req","operation":"find","payload":{"query":"cats"}}' | pegwire encode accp`,
    'pegwire encode aacp --workflow payroll.fetch_employees --period 2024-08',
    "pegwire encode aacp --english 'Retrieve the employee salary records for August 2024' --domain HR",
  ],
  run: async (invocation) => {
    // Sessions, encoders and models are loaded separately.
    if (invocation.protocol.name === 'accp') return (await import('./frames.js')).encodeLines(invocation);
    if (invocation.options.workflow !== undefined) return (await import('./steps.js')).encodeSteps(invocation);
    checkEnglish(invocation);
    return (await import('./english.js')).encodeInstructions(invocation);
  },
});

function checkEnglish({ given }: Invocation): void {
  const misplaced = Object.keys(WORKFLOW_OPTIONS).find((option) => option in given);
  if (misplaced !== undefined) throw new UsageError(`--${misplaced} requires --workflow`);
  if (!('english' in given || 'domain' in given))
    throw new UsageError('encode aacp requires --workflow ENCODER.STEP, or --english with --domain');
}
