import { readLines } from '../io/input.js';
import { toJson } from '../io/json.js';
import { reporting, reportText, tellEmpty } from '../io/report.js';
import { type Command, choice, UsageError } from '../options/command.js';
import { givenLimits, LIMIT_OPTIONS } from '../options/limits.js';

/** `pegwire check`: errors and warnings with caret frames. */
export const check: Command = {
  name: 'check',
  summary: 'errors and warnings of messages, one a line, with the place of each',
  takesInput: true,
  options: {
    dialect: { type: 'string', description: 'NAME  accp: strict (default) or lenient' },
    profile: { type: 'string', description: 'NAME  aacp: draft (default) or interop' },
    ...LIMIT_OPTIONS,
  },
  example: "echo 'FECH|HR|return:HR-Agent|p:1' | pegwire check aacp",
  run: async (invocation) => {
    const { protocol, options, output, json } = invocation;
    const foreign = protocol.name === 'accp' ? 'profile' : 'dialect';
    if (options[foreign] !== undefined) throw new UsageError(`--${foreign} is not for ${protocol.name}`);
    const reading = {
      dialect: choice(invocation, 'dialect', protocol.dialects),
      profile: choice(invocation, 'profile', ['draft', 'interop'] as const),
      limits: givenLimits(invocation),
    };
    const counts = { lines: 0, invalid: 0, errors: 0, warnings: 0 };
    for await (const line of readLines(invocation)) {
      const findings = protocol.check(line.text, reading);
      const errors = findings.filter(({ severity }) => severity === 'error');
      const warnings = findings.filter(({ severity }) => severity === 'warning');
      counts.lines++;
      counts.invalid += errors.length > 0 ? 1 : 0;
      counts.errors += errors.length;
      counts.warnings += warnings.length;
      if (json) await output.result(toJson({ line: line.number, valid: errors.length === 0, errors, warnings }));
      else
        for (const finding of findings)
          await output.result(
            `${reportText(finding, finding.severity, line, { ...reporting(invocation), paint: output.paint })}\n`,
          );
    }
    if (counts.lines === 0) await tellEmpty(invocation);
    else if (!json) await output.note(summary(protocol.message, counts));
    return counts.lines === 0 || counts.invalid > 0 ? 1 : 0;
  },
};

function summary(
  message: string,
  counts: { lines: number; invalid: number; errors: number; warnings: number },
): string {
  const { lines, invalid, errors, warnings } = counts;
  const parts = [
    count(lines, message),
    `${lines - invalid} valid`,
    `${invalid} invalid`,
    count(errors, 'error'),
    count(warnings, 'warning'),
  ];
  return parts.join(', ');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
