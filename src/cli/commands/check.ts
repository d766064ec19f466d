import { toJson } from '../io/json.js';
import { READERS } from '../io/messages.js';
import { count, forEachLine, reporting, reportText } from '../io/report.js';
import { defineCommand } from '../options/command.js';
import { choice, dialect } from '../options/option.js';
import { givenLimits, LIMIT_OPTIONS } from '../options/shared.js';

const ACCP_OPTIONS = { dialect: dialect('Grammar dialect: strict (default) or lenient') };
const AACP_OPTIONS = {
  profile: choice('NAME', 'Validation profile: draft (default) or interop', ['draft', 'interop']),
};

export const command = defineCommand({
  takes: 'messages',
  details: 'The input has one message per line. The exit code is 1 if a message has an error; warnings do not count.',
  options: { ...LIMIT_OPTIONS, ...ACCP_OPTIONS, ...AACP_OPTIONS },
  optionGroups: [
    { protocol: 'accp', title: 'for accp', options: ACCP_OPTIONS },
    { protocol: 'aacp', title: 'for aacp', options: AACP_OPTIONS },
  ],
  example: "echo 'FECH|HR|return:HR-Agent|p:1' | pegwire check aacp",
  run: async (invocation) => {
    const { protocol, options, output, json } = invocation;
    const reading = { dialect: options.dialect, profile: options.profile, limits: givenLimits(options) };
    const style = { ...reporting(invocation), paint: output.paint };
    const counts = { errors: 0, warnings: 0 };
    const { lines, rejected, exitCode } = await forEachLine(invocation, protocol.message, async (line) => {
      const findings = READERS[protocol.name].check(line.text, reading);
      const errors = findings.filter(({ severity }) => severity === 'error');
      const warnings = findings.filter(({ severity }) => severity === 'warning');
      counts.errors += errors.length;
      counts.warnings += warnings.length;
      if (json) await output.result(toJson({ line: line.number, valid: errors.length === 0, errors, warnings }));
      else {
        for (const finding of findings) await output.result(`${reportText(finding, finding.severity, line, style)}\n`);
      }
      return errors.length === 0;
    });
    if (lines > 0 && !json) {
      const parts = [
        count(lines, protocol.message),
        `${lines - rejected} valid`,
        `${rejected} invalid`,
        count(counts.errors, 'error'),
        count(counts.warnings, 'warning'),
      ];
      await output.note(parts.join(', '));
    }
    return exitCode;
  },
});
