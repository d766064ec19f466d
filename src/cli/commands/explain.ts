import { forEachInput } from '../io/inputs.js';
import { toJson } from '../io/json.js';
import { forEachMessage, READERS } from '../io/messages.js';
import { placeOf, reporting, reportText } from '../io/report.js';
import { defineCommand } from '../options/command.js';
import { choice } from '../options/option.js';
import { FILES, givenLimits, LIMIT_OPTIONS } from '../options/shared.js';

export const command = defineCommand({
  takes: 'files',
  details: `${FILES} Errors are reported on stderr, and the exit code is then 1.`,
  options: {
    // The loosest dialect explains the most; the errors of the strict one are reported too.
    dialect: choice(
      'NAME',
      'Grammar dialect: lenient (accp, default), tolerant (aacp, default) or strict',
      (protocol) => protocol.dialects,
      (dialects) => dialects.at(-1)!,
    ),
    ...LIMIT_OPTIONS,
  },
  example: "echo 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1' | pegwire explain aacp",
  run: (invocation) => {
    const { protocol, options, output, json } = invocation;
    const reader = READERS[protocol.name];
    const reading = { dialect: options.dialect, profile: 'draft', limits: givenLimits(options) } as const;
    return forEachInput(invocation, (one) =>
      forEachMessage(one, reading, async (node, line) => {
        const explanation = reader.explain(node);
        const errors = reader.check(line.text, reading).filter(({ severity }) => severity === 'error');
        const ok = errors.length === 0;
        await output.result(json ? toJson({ ...placeOf(one, line), ok, explanation, errors }) : explanation);
        if (!json)
          for (const error of errors) await output.note(`${reportText(error, 'error', line, reporting(one))}\n`);
        return ok;
      }),
    );
  },
});
