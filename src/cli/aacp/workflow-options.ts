/** The options of `pegwire encode aacp --workflow` beside the inputs of the step. No encoder is loaded for them. */
import type { Options } from '../options/command.js';

export const WORKFLOW_OPTIONS: Options = {
  workflow: {
    type: 'string',
    description: 'ENCODER.STEP  such as payroll.fetch_employees; its inputs are options, too',
  },
  input: { type: 'string', description: 'JSON  the inputs as an object; options stand for what it leaves out' },
  compat: { type: 'string', description: 'NAME  sdk: the packets of the reference SDK, which leaves inputs out' },
  'receiver-knows-fields': {
    type: 'boolean',
    description: 'leave out lists of fields and pointers to data, which the receiver has',
  },
};
