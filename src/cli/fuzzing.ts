/** What `pegwire fuzz` does. */
import path from 'node:path';
import process from 'node:process';
import { coverageHtml, coverageReport, coverageTable } from '../fuzz/coverage/report.js';
import { createTracker, type Tracker } from '../fuzz/coverage/tracker.js';
import type { Language } from '../fuzz/differential/language.js';
import { findingText, summaryText } from '../fuzz/differential/report.js';
import {
  type DifferentialReport,
  type Finding,
  fixtureFile,
  fixtureOf,
  runDifferential,
} from '../fuzz/differential/run.js';
import { TargetError } from '../fuzz/differential/target.js';
import { type FuzzInput, fuzzInputs } from '../fuzz/mutants/mutate.js';
import { processTarget } from '../fuzz/process/process-target.js';
import { NoSentenceError } from '../fuzz/sentences/generate.js';
import { makeFolders } from '../storage/place.js';
import { createRandom } from '../text/random.js';
import { FEW, MANY } from './fuzz-defaults.js';
import { readLines } from './input.js';
import { toJson } from './json.js';
import { languageOf } from './languages.js';
import { NARROWING_OPTIONS } from './narrowing-options.js';
import { processLimits, targetFault } from './target-options.js';
import { type Invocation, UsageError } from './usage.js';
import { tryFile, tryFolder, writeText, writing } from './write-text.js';

/** @returns the exit code: 1 where an implementation disagrees */
export async function runFuzz(invocation: Invocation): Promise<number> {
  const language = languageOf(invocation);
  const tracker = wantsCoverage(invocation) ? createTracker(language.grammar) : null;
  const corpus = invocation.options['coverage'];
  const page = invocation.options['html'];
  // Before the work, so that it is not lost.
  if (typeof page === 'string') tryFile(page);
  try {
    if (typeof corpus === 'string') return await measure(invocation, corpus, tracker!);
    const targets = invocation.repeated['target'] ?? [];
    const code =
      targets.length === 0
        ? await print(invocation, language, tracker)
        : await compare(invocation, language, targets, tracker);
    if (tracker !== null) await showCoverage(invocation, tracker);
    return code;
  } catch (thrown) {
    if (thrown instanceof NoSentenceError) throw new UsageError(thrown.message, 'unreadable');
    if (thrown instanceof TargetError) throw targetFault(thrown);
    throw thrown;
  }
}

/** The coverage of a file of texts, one a line. */
async function measure(invocation: Invocation, file: string, tracker: Tracker): Promise<number> {
  for await (const { text } of readLines({ ...invocation, file: file === '-' ? undefined : file })) {
    tracker.add(fromLine(text));
  }
  await showCoverage(invocation, tracker);
  return 0;
}

async function print(invocation: Invocation, language: Language, tracker: Tracker | null): Promise<number> {
  const { json, output } = invocation;
  const seed = seedOf(invocation);
  // A table of coverage stands for the texts.
  const isShown = invocation.options['coverage'] === undefined;
  for (const { text, kinds, valid } of await inputsOf(invocation, language, seed, FEW, 0)) {
    tracker?.add(text);
    if (isShown) await output.result(json ? toJson({ text, valid, mutation: kinds }) : oneLine(text));
  }
  await output.note(`Seed ${seed}.`);
  return 0;
}

/** A text that would not be one line, or not be seen, is written as JSON. */
function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
  return /[\x00-\x1f\x7f-\x9f\u2028\u2029]|^"|^$/.test(text) ? JSON.stringify(text) : text;
}

/** The text of a line that {@link oneLine} has written, or somebody else. */
function fromLine(line: string): string {
  if (!line.startsWith('"')) return line;
  try {
    const text: unknown = JSON.parse(line);
    return typeof text === 'string' ? text : line;
  } catch {
    return line;
  }
}

async function compare(
  invocation: Invocation,
  language: Language,
  commands: readonly string[],
  tracker: Tracker | null,
): Promise<number> {
  const { json, output, options } = invocation;
  const seed = seedOf(invocation);
  const folder = typeof options['output'] === 'string' ? options['output'] : 'pegwire-findings';
  await tryFindings(invocation, folder);
  const count = countOf(invocation, 'count', MANY);
  const inputs = await inputsOf(invocation, language, seed, MANY, 0.5);
  const stopping = new AbortController();
  const stop = (): void => {
    // 128 and the number of the signal, as shells have it.
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort();
    void output.note('\nStopping; what was found is kept. Once more stops at once.');
  };
  process.on('SIGINT', stop);
  const targets = commands.map((command) => processTarget(command, processLimits(invocation)));
  let number = 0;
  let shown: Promise<void> = Promise.resolve();
  let fault: UsageError | undefined;
  const onFinding = (finding: Finding): void => {
    const fixture = fixtureOf(finding, language);
    let file: string | null = null;
    let unsaved = '';
    try {
      // A disagreement that does not come again is not a test case.
      if (finding.steady) file = save(fixture, folder);
    } catch (thrown) {
      fault ??= thrown as UsageError;
      unsaved = `   not saved: ${(thrown as Error).message}\n   its file:  ${JSON.stringify(fixture)}\n`;
    }
    number++;
    const record = json ? toJson({ ...fixture, file }) : `${findingText(finding, number, file)}\n${unsaved}`;
    output.progress('');
    shown = shown.then(() => output.result(record));
  };
  let report: DifferentialReport;
  const started = performance.now();
  try {
    report = await runDifferential({
      language,
      targets,
      inputs: texts(inputs, tracker),
      signal: stopping.signal,
      onFinding,
      onProgress: ({ inputs: done, findings }) => {
        const rate = Math.round(done / ((performance.now() - started) / 1_000));
        if (done % 64 === 0) output.progress(`${done} of ${count} texts, ${rate} a second, ${findings} findings`);
      },
    });
  } finally {
    process.removeListener('SIGINT', stop);
    output.progress('');
    await Promise.all(targets.map((target) => target.close()));
  }
  await shown;
  const again = [
    'pegwire fuzz',
    invocation.grammar ?? language.name,
    `--seed ${seed} --count ${count}`,
    ...given(invocation),
  ];
  const { findings: _findings, ...counts } = report;
  if (json) await output.result(toJson({ summary: { ...counts, seed, findings: report.findings.length } }));
  else await output.result(summaryText(report, seed, again.join(' ')));
  // The default folder is nothing that was asked for.
  if (fault !== undefined && options['output'] !== undefined) throw fault;
  return report.findings.length > 0 ? 1 : 0;
}

/** Options that a run depends on, but for the seed and the count. */
const DEPENDS = ['mutate', 'corpus', 'max-length', 'start', ...Object.keys(NARROWING_OPTIONS), 'target'];

/** What was given of them, for a shell. */
function given({ options, repeated }: Invocation): readonly string[] {
  return DEPENDS.flatMap((name) => {
    if (options[name] === true) return [`--${name}`];
    return (repeated[name] ?? []).map((value) => `--${name} '${value.replaceAll("'", "'\\''")}'`);
  });
}

function* texts(inputs: Iterable<FuzzInput>, tracker: Tracker | null): Generator<string> {
  for (const { text } of inputs) {
    tracker?.add(text);
    yield text;
  }
}

async function inputsOf(
  invocation: Invocation,
  { grammar, words }: Language,
  seed: number,
  many: number,
  share: number,
): Promise<Iterable<FuzzInput>> {
  const { options } = invocation;
  const corpus = options['corpus'];
  const seeds: string[] = [];
  if (typeof corpus === 'string')
    for await (const { text } of readLines({ ...invocation, file: corpus === '-' ? undefined : corpus }))
      seeds.push(fromLine(text));
  return fuzzInputs(grammar, {
    seed,
    seeds,
    words,
    count: countOf(invocation, 'count', many),
    maxLength: countOf(invocation, 'max-length', 160),
    mutants: shareOf(options['mutate'], share),
  });
}

/**
 * Tries the folder of the findings before a long run. Where the default one cannot be written, findings are only printed.
 *
 * @throws UsageError when the folder that was asked for cannot be written
 */
async function tryFindings({ options, json, output }: Invocation, folder: string): Promise<void> {
  try {
    await tryFolder(folder);
  } catch (thrown) {
    if (options['output'] !== undefined || !(thrown instanceof UsageError)) throw thrown;
    const message = `${thrown.message}; findings are printed only, and --output DIR saves them elsewhere`;
    await output.note(json ? toJson({ notice: message }) : `${message}.`);
  }
}

/** Saves a finding as soon as it is known, so that the end of the run cannot lose it. @throws UsageError */
function save(fixture: ReturnType<typeof fixtureOf>, folder: string): string {
  const file = path.join(folder, fixtureFile(fixture));
  writing(folder, () => makeFolders(folder));
  writeText(file, `${JSON.stringify(fixture, null, 2)}\n`);
  return file;
}

async function showCoverage(invocation: Invocation, tracker: Tracker): Promise<void> {
  const { json, output, options } = invocation;
  const page = options['html'];
  if (options['coverage'] !== undefined) {
    const report = coverageReport(tracker);
    await output.result(json ? toJson({ coverage: report }) : coverageTable(report));
  }
  if (typeof page !== 'string') return;
  const html = coverageHtml(tracker);
  try {
    writeText(page, html);
  } catch (thrown) {
    await output.result(html);
    throw thrown;
  }
  await output.note(`The page is written to ${page}.`);
}

function wantsCoverage({ options }: Invocation): boolean {
  return options['coverage'] !== undefined || options['html'] !== undefined;
}

function seedOf({ options }: Invocation): number {
  const given = options['seed'];
  if (given === undefined) return createRandom(Date.now() | 0).integer(0, 2 ** 31 - 1);
  const seed = Number(given);
  if (Number.isSafeInteger(seed) && seed >= 0) return seed;
  throw new UsageError(`--seed is a whole number from 0 on, not "${String(given)}"`);
}

function countOf({ options }: Invocation, name: string, byDefault: number): number {
  const given = options[name];
  if (given === undefined) return byDefault;
  const count = Number(given);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new UsageError(`--${name} is a whole number from 1 on, not "${String(given)}"`);
}

function shareOf(given: string | boolean | undefined, byDefault: number): number {
  if (given === undefined) return byDefault;
  const share = given === true ? 1 : Number(given);
  if (share >= 0 && share <= 1) return share;
  throw new UsageError(`--mutate is a share from 0 to 1, not "${String(given)}"`);
}
