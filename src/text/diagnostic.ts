import { codeFrame, type SourceName } from './code-frame.js';
import type { Span } from './span.js';

export type Severity = 'error' | 'warning';

/** One finding about a text, with a stable code. */
export interface Diagnostic<Code extends string = string> {
  readonly code: Code;
  readonly severity: Severity;
  /** One sentence. */
  readonly message: string;
  /** Where; `null` when the finding is about a node without spans. */
  readonly span: Span | null;
  /** Section of the source document that the finding rests on. */
  readonly section: string;
  /** What to do about it, where that is known. */
  readonly help?: string;
  /** Other places that belong to the finding, such as the first of two equal keys. */
  readonly related?: readonly Span[];
}

export interface Report extends Pick<Diagnostic, 'code' | 'message' | 'span' | 'related'> {
  readonly help?: string | undefined;
}

/** Formats a finding: code and message, the line with carets under the place, and help. */
export function formatReport(report: Report, severity: Severity, text: string, source?: SourceName): string {
  const lines = [`${severity}[${report.code}]: ${report.message}`];
  if (report.span !== null) lines.push(codeFrame(text, report.span, source));
  for (const place of report.related ?? [])
    lines.push('note: it belongs together with this', codeFrame(text, place, source));
  if (report.help !== undefined) lines.push(`help: ${report.help}`);
  return lines.join('\n');
}

/**
 * Formats a diagnostic about `text`, like `format()` of an error.
 *
 * @example
 * for (const warning of validatePacket(text).warnings) console.error(formatDiagnostic(warning, text));
 */
export function formatDiagnostic(diagnostic: Diagnostic, text: string, source?: SourceName): string {
  return formatReport(diagnostic, diagnostic.severity, text, source);
}
