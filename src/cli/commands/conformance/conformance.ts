import { type CaseResult, runConformance } from '../../../fuzz/differential/conformance.js';
import { toJson } from '../../io/json.js';
import { type Command, choice, type Invocation, UsageError } from '../../options/command.js';
import { TARGET_OPTIONS, withTarget } from '../../options/target.js';
import { type CaseSet, conformanceCases, DRAFTS } from './cases.js';
import { failureText, summaryText, tallyOf } from './report.js';

/** `pegwire conformance`: the packaged cases against another implementation. */
export const conformance: Command = {
  name: 'conformance',
  summary: 'the conformance cases against another implementation, a verdict a case',
  takesInput: false,
  takesProtocol: 'required',
  options: {
    ...TARGET_OPTIONS,
    filter: { type: 'string', description: 'TEXT  only cases whose id holds this' },
    dialect: { type: 'string', description: 'NAME  only cases of this dialect, and only it for canonical texts' },
  },
  example: "pegwire conformance aacp --target 'python3 my_adapter.py'",
  run: async (invocation) => {
    const set = await chosenCases(invocation);
    const results = await withTarget(invocation, async (target) => {
      const done: CaseResult[] = [];
      for await (const result of runConformance(target, set.cases)) {
        done.push(result);
        await tell(result, invocation);
        invocation.output.progress(`${done.length} of ${set.cases.length} cases`);
      }
      return done;
    });
    const { output, json } = invocation;
    output.progress('');
    const summary = tallyOf(results);
    await output.result(
      json ? toJson({ summary: { ...summary, leftOut: set.leftOut } }) : summaryText(results, set, output.paint),
    );
    return summary.pass === summary.cases ? 0 : 1;
  },
};

async function chosenCases(invocation: Invocation): Promise<CaseSet> {
  const { protocol, options } = invocation;
  const filter = typeof options['filter'] === 'string' ? options['filter'] : '';
  const dialect = options['dialect'] === undefined ? null : choice(invocation, 'dialect', protocol.dialects);
  const { cases, leftOut } = await conformanceCases(protocol);
  const chosen = cases
    .filter((one) => one.id.includes(filter) && (dialect === null || one.dialect === dialect))
    .map((one) => (dialect === null ? one : { ...one, rereadIn: one.rereadIn?.filter((other) => other === dialect) }));
  if (chosen.length === 0) throw new UsageError(`No case of ${protocol.name} is chosen by these options`);
  return { cases: chosen, leftOut };
}

async function tell(result: CaseResult, { protocol, json, output }: Invocation): Promise<void> {
  const { case: asked, verdict, faults, failure, answer, judged } = result;
  const { id, file, section, dialect, input } = asked;
  if (json)
    await output.result(toJson({ id, file, section, dialect, input, verdict, faults, failure, answer, judged }));
  else if (verdict !== 'pass') {
    output.progress('');
    await output.result(`${failureText(result, DRAFTS[protocol.name], output.paint)}\n`);
  }
}
