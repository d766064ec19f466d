/** Findings about lines of files, for people and for other programs. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Report, Severity } from '../../text/diagnostic.js';
import { visible } from '../../text/visible.js';
import { UsageError } from './errors.js';
import { inputName, type Line } from './input.js';
import { forEachInput, type Named } from './inputs.js';
import { packageVersion } from './package.js';
import { commandHelpOf, type Reporting, reportText } from './report.js';

/** The formats, the default first. */
export const FINDING_FORMATS = ['text', 'sarif', 'github', 'junit'] as const;

export type FindingFormat = (typeof FINDING_FORMATS)[number];

/** Writes findings to stdout, as they come or together at the end. */
export interface FindingWriter {
  /** Writes a finding about a line of an input. */
  add(source: Reporting, line: Line, severity: Severity, report: Report): Promise<void>;
  /** Writes that an input cannot be read. @default as for other commands */
  readonly fail?: (file: string, error: UsageError) => Promise<void>;
  /** Ends the output. @param inputs the names of all inputs, with findings or without */
  end(inputs: readonly string[]): Promise<void>;
}

interface Finding {
  readonly file: string;
  readonly line: number;
  /** The first column and that after the last one, counted from 1 in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly severity: Severity;
  readonly code: string;
  /** The message, and help if there is any. */
  readonly text: string;
}

/** Runs a check of each input, which writes findings in the given format. @returns the highest exit code */
export async function checkEachInput<I extends Named>(
  invocation: I,
  format: FindingFormat,
  check: (one: I, findings: FindingWriter) => Promise<number>,
): Promise<number> {
  const findings = findingWriter(invocation, format);
  const inputs: string[] = [];
  const exitCode = await forEachInput(
    invocation,
    (one) => {
      inputs.push(inputName(one));
      return check(one, findings);
    },
    findings.fail,
  );
  await findings.end(inputs);
  return exitCode;
}

/** Creates the writer of a format. @throws UsageError if `--json` is given with another format than text */
function findingWriter({ output, json }: Pick<Reporting, 'output' | 'json'>, format: FindingFormat): FindingWriter {
  if (format === 'text') {
    return {
      add: async (source, line, severity, report) => {
        const { known } = source;
        const style = { name: inputName(source), paint: output.paint, known };
        await output.result(`${reportText(report, severity, line, style)}\n`);
      },
      end: async () => {},
    };
  }
  if (json) throw new UsageError(`--json prints JSON lines; use --format ${format} without it`);
  if (format === 'github') {
    return {
      add: (source, line, severity, report) => output.result(annotation(findingOf(source, line, severity, report))),
      fail: (file, error) => output.result(annotation(failureOf(file, error))),
      end: async () => {},
    };
  }
  const findings: Finding[] = [];
  return {
    add: async (source, line, severity, report) => void findings.push(findingOf(source, line, severity, report)),
    fail: async (file, error) => void findings.push(failureOf(file, error)),
    end: (inputs) => output.result(format === 'sarif' ? sarif(findings) : junit(inputs, findings)),
  };
}

function findingOf(source: Reporting, { number, text }: Line, severity: Severity, report: Report): Finding {
  const { code, message, span } = report;
  const help = commandHelpOf(report.help, source.known);
  const { start, end } = span ?? { start: 0, end: text.length };
  return {
    ...{ file: inputName(source), line: number, start: start + 1, end: Math.max(end, start + 1) + 1, severity, code },
    text: visible(help === undefined ? message : `${message} Help: ${help}`),
  };
}

function failureOf(file: string, { code, message }: UsageError): Finding {
  return { file, line: 1, start: 1, end: 2, severity: 'error', code, text: visible(`${message}.`) };
}

/** A workflow command of GitHub Actions. */
function annotation({ file, line, start, end, severity, code, text }: Finding): string {
  const data = (value: string): string => value.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
  const property = (value: string): string => data(value).replace(/:/g, '%3A').replace(/,/g, '%2C');
  const place = `file=${property(file)},line=${line},col=${start},endColumn=${end},title=${property(code)}`;
  return `::${severity} ${place}::${data(text)}`;
}

/** SARIF 2.1.0 (OASIS). */
function sarif(findings: readonly Finding[]): string {
  const codes = [...new Set(findings.map(({ code }) => code))];
  const results = findings.map(({ file, line, start, end, severity, code, text }) => ({
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(file) },
          region: { startLine: line, startColumn: start, endColumn: end },
        },
      },
    ],
  }));
  const driver = { name: 'pegwire', version: packageVersion(), rules: codes.map((id) => ({ id })) };
  return JSON.stringify({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  });
}

/** A relative reference for a relative path, so that the findings fit any checkout. */
function uriOf(file: string): string {
  return path.isAbsolute(file) ? pathToFileURL(file).href : file.split(path.sep).map(encodeURIComponent).join('/');
}

/** JUnit XML, as most continuous integration servers read it. Warnings are no failures. */
function junit(inputs: readonly string[], findings: readonly Finding[]): string {
  const byFile = groupedByFile(findings);
  const failures = findings.filter(({ severity }) => severity === 'error').length;
  const suites = inputs.map((file) => {
    const own = byFile.get(file) ?? [];
    const name = xml(file);
    const cases = own.map(({ line, start, severity, code, text }) => {
      const title = `${line}:${start} ${code}`;
      const result =
        severity === 'error'
          ? `<failure type="${xml(code)}" message="${xml(text)}"/>`
          : `<system-out>${xml(text)}</system-out>`;
      return `<testcase classname="${name}" name="${xml(title)}">${result}</testcase>`;
    });
    if (cases.length === 0) cases.push(`<testcase classname="${name}" name="all messages"/>`);
    const failed = own.filter(({ severity }) => severity === 'error').length;
    return `<testsuite name="${name}" tests="${cases.length}" failures="${failed}">\n${cases.join('\n')}\n</testsuite>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="pegwire" failures="${failures}">`,
    ...suites,
    '</testsuites>',
  ].join('\n');
}

function groupedByFile(findings: readonly Finding[]): ReadonlyMap<string, readonly Finding[]> {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const group = groups.get(finding.file) ?? [];
    group.push(finding);
    groups.set(finding.file, group);
  }
  return groups;
}

const XML_ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function xml(text: string): string {
  return visible(text).replace(/[&<>"]/g, (character) => XML_ESCAPES[character]!);
}
