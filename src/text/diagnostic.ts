import { codeFrame, type SourceName } from './code-frame.js';
import type { Span } from './span.js';

/** The severity of a diagnostic: only an error makes its input invalid. */
export type Severity = 'error' | 'warning';

/** An error or warning about a text, with a stable code. */
export interface Diagnostic<Code extends string = string> {
  /** The stable code, such as `missing-return`. */
  readonly code: Code;
  /** The severity: `error` or `warning`. */
  readonly severity: Severity;
  /** The problem, in one sentence. */
  readonly message: string;
  /** The position in the text; `null` if the diagnostic is about a node without spans. */
  readonly span: Span | null;
  /** The section of the specification that the diagnostic refers to. */
  readonly section: string;
  /** A way to fix the problem, if one is known. */
  readonly help?: string;
  /** Other positions that belong to the diagnostic, such as the first of two equal keys. */
  readonly related?: readonly Span[];
}

/** The part of an error or diagnostic that is formatted. */
export interface Report extends Pick<Diagnostic, 'code' | 'message' | 'span' | 'related'> {
  readonly help?: string | undefined;
}

/** Formats an error or diagnostic: code and message, code frames of its positions, and help. */
export function formatReport(report: Report, severity: Severity, text: string, source?: SourceName): string {
  const lines = [`${severity}[${report.code}]: ${report.message}`];
  if (report.span !== null) lines.push(codeFrame(text, report.span, source));
  for (const place of report.related ?? []) lines.push('note: related to this', codeFrame(text, place, source));
  if (report.help !== undefined) lines.push(`help: ${report.help}`);
  return lines.join('\n');
}

/**
 * Formats a diagnostic about `text` in the same way as `format()` of an error.
 *
 * @example
 * for (const warning of validatePacket(text).warnings) console.error(formatDiagnostic(warning, text));
 */
export function formatDiagnostic(diagnostic: Diagnostic, text: string, source?: SourceName): string {
  return formatReport(diagnostic, diagnostic.severity, text, source);
}
