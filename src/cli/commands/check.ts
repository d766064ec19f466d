import { UsageError } from '../io/errors.js';
import { checkEachInput } from '../io/findings.js';
import { messagesAmong, readLines } from '../io/input.js';
import { toJson } from '../io/json.js';
import { READERS } from '../io/messages.js';
import { count, forEachLine, placeOf } from '../io/report.js';
import { whileWatching } from '../io/watch.js';
import { defineCommand, type Invocation } from '../options/command.js';
import { choice, dialect } from '../options/option.js';
import { FILES, FORMAT, givenLimits, LIMIT_OPTIONS, WATCH } from '../options/shared.js';

const ACCP_OPTIONS = { dialect: dialect('Grammar dialect: strict (default) or lenient') };
const AACP_OPTIONS = {
  profile: choice('NAME', 'Validation profile: draft (default) or interop', ['draft', 'interop']),
};

const OPTIONS = { format: FORMAT, watch: WATCH, ...LIMIT_OPTIONS, ...ACCP_OPTIONS, ...AACP_OPTIONS };

export const command = defineCommand({
  takes: 'files',
  details: `${FILES} The exit code is 1 if a message has an error; warnings do not count.`,
  options: OPTIONS,
  optionGroups: [
    { protocol: 'accp', title: 'for accp', options: ACCP_OPTIONS },
    { protocol: 'aacp', title: 'for aacp', options: AACP_OPTIONS },
  ],
  example: ["echo 'FECH|HR|return:HR-Agent|p:1' | pegwire check aacp", 'pegwire check accp examples --format sarif'],
  run: async (invocation) => {
    const { watch, format } = invocation.options;
    if (watch && format !== 'text') throw new UsageError('--watch requires the format text');
    return watch ? whileWatching(invocation, checkFiles) : checkFiles(invocation);
  },
});

async function checkFiles(invocation: Invocation<typeof OPTIONS>): Promise<number> {
  const { protocol, options, output, json } = invocation;
  const reading = { dialect: options.dialect, profile: options.profile, limits: givenLimits(options) };
  const totals = { files: 0, lines: 0, rejected: 0, errors: 0, warnings: 0 };
  const exitCode = await checkEachInput(invocation, options.format, async (one, findings) => {
    totals.files++;
    const done = await forEachLine(
      one,
      protocol.message,
      async (line) => {
        const found = READERS[protocol.name].check(line.text, reading);
        const errors = found.filter(({ severity }) => severity === 'error');
        const warnings = found.filter(({ severity }) => severity === 'warning');
        totals.errors += errors.length;
        totals.warnings += warnings.length;
        const valid = errors.length === 0;
        if (json) await output.result(toJson({ ...placeOf(one, line), valid, errors, warnings }));
        else for (const finding of found) await findings.add(one, line, finding.severity, finding);
        return valid;
      },
      messagesAmong(readLines(one)),
    );
    totals.lines += done.lines;
    totals.rejected += done.rejected;
    return done.exitCode;
  });
  const { files, lines, rejected, errors, warnings } = totals;
  if (lines > 0 && !json) {
    const parts = [
      ...(files > 1 ? [count(files, 'file')] : []),
      count(lines, protocol.message),
      `${lines - rejected} valid`,
      `${rejected} invalid`,
      count(errors, 'error'),
      count(warnings, 'warning'),
    ];
    await output.note(parts.join(', '));
  }
  return exitCode;
}
