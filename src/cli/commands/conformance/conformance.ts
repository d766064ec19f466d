import { type CaseResult, runConformance } from '../../../fuzz/differential/conformance.js';
import { TargetError } from '../../../fuzz/differential/target.js';
import { processTarget } from '../../../fuzz/process/process-target.js';
import { UsageError } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { oneOf, text, value } from '../../options/option.js';
import { LIMITED_PROGRAM, processLimits, targetFault } from '../../options/shared.js';
import { type CaseSet, conformanceCases, DRAFTS } from './cases.js';
import { failureText, summaryText, tallyOf } from './report.js';

const OPTIONS = {
  target: text('CMD', "Test this shell command, for example 'python3 adapter.py' (required)"),
  ...LIMITED_PROGRAM,
  filter: text('TEXT', 'Run only the cases whose id contains this text'),
  dialect: value('NAME', 'Run only the cases of this dialect', (given, name, protocol) =>
    oneOf(protocol.dialects)(given, name, protocol),
  ),
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: 'protocol',
  details:
    'The target reads one JSON request per line and answers each with one line; the guide src/fuzz/README.md describes the ' +
    'protocol. Prints the cases that failed, or with --json one result per case, and a summary. The exit code is 1 if a case failed.',
  options: OPTIONS,
  example: "pegwire conformance aacp --target 'python3 my_adapter.py'",
  run: async (invocation) => {
    const set = await chosenCases(invocation);
    const results = await resultsOf(invocation, set);
    const { output, json } = invocation;
    const summary = tallyOf(results);
    await output.result(
      json ? toJson({ summary: { ...summary, skipped: set.skipped } }) : summaryText(results, set, output.paint),
    );
    return summary.pass === summary.cases ? 0 : 1;
  },
});

async function resultsOf(invocation: Run, { cases }: CaseSet): Promise<readonly CaseResult[]> {
  const { options, output, json, protocol } = invocation;
  if (options.target === undefined) throw new UsageError('conformance requires --target, the program to test');
  const target = processTarget(options.target, processLimits(options));
  const done: CaseResult[] = [];
  const showDone = output.bar('Testing');
  try {
    for await (const result of runConformance(target, cases)) {
      done.push(result);
      const { case: sent, verdict, mismatches, failure, answer, compared } = result;
      const { id, file, section, dialect, input } = sent;
      if (json)
        await output.result(
          toJson({ id, file, section, dialect, input, verdict, mismatches, failure, answer, compared }),
        );
      else if (verdict !== 'pass') await output.result(`${failureText(result, DRAFTS[protocol.name], output.paint)}\n`);
      showDone(done.length, cases.length, `${done.length} of ${cases.length} cases`);
    }
  } catch (thrown) {
    throw thrown instanceof TargetError ? targetFault(thrown) : thrown;
  } finally {
    await target.close();
  }
  return done;
}

async function chosenCases(invocation: Run): Promise<CaseSet> {
  const { protocol, options } = invocation;
  const { filter = '', dialect } = options;
  const { cases, skipped } = await conformanceCases(protocol);
  const chosen = cases
    .filter((one) => one.id.includes(filter) && (dialect === undefined || one.dialect === dialect))
    .map((one) =>
      dialect === undefined
        ? one
        : { ...one, reparseDialects: one.reparseDialects?.filter((other) => other === dialect) },
    );
  if (chosen.length === 0) throw new UsageError(`No case of ${protocol.name} matches --filter and --dialect`);
  return { cases: chosen, skipped };
}
