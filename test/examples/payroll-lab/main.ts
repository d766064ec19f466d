/** `npm run lab`: a payroll in five hops of packets between agents, with its workbook, page and audit log. */
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { UsageError } from '../../../src/cli/io/errors.js';
import { tryFolder } from '../../../src/cli/io/files.js';
import { PegwireError } from '../../../src/text/errors.js';
import { subjectsOf } from './agents.js';
import { type Hop, type LabResult, runLab, type Tampering } from './lab.js';
import { agentsLine, auditLine, costOf, dollars, pageOf } from './page.js';

const USAGE = `Usage: npm run lab -- [--out FOLDER] [--model NAME] [--tamper packet|field|log]

  --out FOLDER   the folder for payroll.xlsx, index.html and audit.jsonl (lab-output)
  --model NAME   the model, if OPENAI_API_KEY or ANTHROPIC_API_KEY is set
  --tamper KIND  change a value or a field of the third packet in transit, or a record of the log; the run stops with exit code 1`;

const TAMPERINGS: readonly Tampering[] = ['packet', 'field', 'log'];

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options === 'string') {
    console.error(options);
    return 2;
  }
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  const { out, model, tamper } = options;
  try {
    await tryFolder(out);
    const result = await runLab({ folder: out, model, tamper, onHop: printHop });
    writeFileSync(result.files.page, pageOf(result));
    printSummary(result);
    return result.error === null && result.audit.ok ? 0 : 1;
  } catch (thrown) {
    if (thrown instanceof UsageError) {
      console.error(`error[usage]: ${thrown.message}`);
      return 2;
    }
    // Such as a log that another run has open.
    if (!(thrown instanceof PegwireError)) throw thrown;
    console.error(`error[${thrown.code}]: ${thrown.message}`);
    return 1;
  }
}

function readOptions(args: readonly string[]) {
  // "--tamper" alone changes a value.
  const given = args.flatMap((arg, index) =>
    arg === '--tamper' && !TAMPERINGS.includes(args[index + 1] as Tampering) ? [arg, 'packet'] : [arg],
  );
  try {
    const { values } = parseArgs({
      args: given,
      options: {
        out: { type: 'string', default: 'lab-output' },
        model: { type: 'string' },
        tamper: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const tamper = values.tamper as Tampering | undefined;
    if (tamper !== undefined && !TAMPERINGS.includes(tamper))
      throw new Error(`--tamper must be packet, field or log; got ${tamper}`);
    return { ...values, tamper };
  } catch (thrown) {
    return `error[usage]: ${(thrown as Error).message}\n\n${USAGE}`;
  }
}

function printHop({ agent, packet, received, state, error, result, packetTokens, englishTokens }: Hop): void {
  console.log(`${agent.padEnd(4)}  ${packet}`);
  if (received !== null) console.log(`      received: ${received}`);
  console.log(
    `      ${state}: ${error === null ? (result?.summary ?? 'an earlier hop was refused') : error.code}; ${packetTokens} tokens, the English has ${englishTokens}`,
  );
}

function printSummary(result: LabResult): void {
  const { hops, report, error, files, prices, model } = result;
  console.log('');
  console.log(agentsLine(result));
  if (report !== null) {
    const found = new Set(hops.flatMap(({ result: answer }) => answer?.found ?? []));
    const subjects = subjectsOf(report.anomalies);
    console.log(
      `Anomalies: ${report.anomalies.length}, marked in the workbook. The report agent named ${subjects.filter((id) => found.has(id)).length} of their ${subjects.length} subjects.`,
    );
  }
  const input = hops.reduce((sum, hop) => sum + (hop.result?.inputTokens ?? 0), 0);
  const output = hops.reduce((sum, hop) => sum + (hop.result?.outputTokens ?? 0), 0);
  const names = model === null ? Object.keys(prices.models) : [model];
  const costs = names.map((name) =>
    Object.hasOwn(prices.models, name)
      ? `${name} ${dollars(costOf(prices.models[name]!, input, output))}`
      : `${name}: price unknown`,
  );
  console.log(
    `Estimated cost of ${input} tokens in and ${output} out, at prices assumed as of ${prices.asOf}: ${costs.join(', ')}.`,
  );
  console.log(auditLine(result));
  if (error === null) console.log(`Workbook: ${files.workbook}`);
  console.log(`Page:     ${files.page}`);
  if (error !== null) console.error(`error[${error.code}]: ${error.message}`);
}
