/** The answers to the requests of an editor about one document. */
import type { Span } from '../text/span.js';
import type { CheckedMessage, OpenDocument } from './document.js';
import {
  completeRule,
  definitionsOf,
  grammarColors,
  grammarFixes,
  grammarOutline,
  ruleAt,
  ruleHover,
  usesOf,
  whyNotName,
} from './grammars/features.js';
import { formatGrammar } from './grammars/format.js';
import {
  type ColoredSpan,
  type CompletionWord,
  type Finding,
  type Outline,
  type SeenWords,
  TOKEN_MODIFIERS,
  TOKEN_TYPES,
} from './language.js';
import { LANGUAGES, type Message } from './messages/find.js';
import type { MessageWords } from './messages/message-language.js';
import { definitionOf } from './messages/references.js';
import {
  type CodeAction,
  CodeActionKind,
  type CompletionItem,
  CompletionItemKind,
  type Diagnostic,
  DiagnosticSeverity,
  DiagnosticTag,
  type DocumentSymbol,
  ErrorCodes,
  type Location,
  MarkupKind,
  type Range,
  ResponseError,
  type SemanticTokensBuilder,
  SymbolKind,
  type TextEdit,
} from './protocol.js';

type Position = Range['start'];

const SEVERITIES: Readonly<Record<Finding['severity'], DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  information: DiagnosticSeverity.Information,
  hint: DiagnosticSeverity.Hint,
};

/** Returns the diagnostics of a document. Reads only what has changed. */
export function diagnostics(document: OpenDocument): Diagnostic[] {
  const { grammar } = document;
  if (grammar !== null) {
    return [...grammar.findings, ...document.notices].map((finding) =>
      diagnosticOf(finding, (span) => document.range(span), document.uri),
    );
  }
  return document
    .lines()
    .flatMap(([line, { messages }]) =>
      messages.flatMap((message) =>
        message.findings.map((finding) => messageDiagnostic(document, line, message, finding)),
      ),
    );
}

function diagnosticOf(finding: Finding, rangeOf: (span: Span) => Range, uri: string): Diagnostic {
  const { code, severity, message, span, help, related = [], section } = finding;
  return {
    range: rangeOf(span),
    severity: SEVERITIES[severity],
    code,
    source: 'pegwire',
    message: help === undefined ? message : `${message}\nhelp: ${help}`,
    ...(code === 'unused-rule' ? { tags: [DiagnosticTag.Unnecessary] } : {}),
    ...(related.length === 0
      ? {}
      : {
          relatedInformation: related.map((one) => ({
            location: { uri, range: rangeOf(one) },
            message: 'related to this',
          })),
        }),
    ...(section === undefined ? {} : { data: { section } }),
  };
}

function messageDiagnostic(document: OpenDocument, line: number, message: Message, finding: Finding): Diagnostic {
  const { written } = message;
  const shown = { ...finding, message: written(finding.message), help: finding.help && written(finding.help) };
  return diagnosticOf(shown, (span) => document.rangeIn(line, message, span), document.uri);
}

/** Returns the quick fixes of the findings in a range, and the canonical form of the message there. */
export function codeActions(document: OpenDocument, range: Range, given: readonly Diagnostic[]): CodeAction[] {
  const { uri, grammar } = document;
  const fix = (title: string, edit: TextEdit, diagnostic: Diagnostic, isPreferred: boolean): CodeAction => ({
    title,
    kind: CodeActionKind.QuickFix,
    diagnostics: [diagnostic],
    isPreferred,
    edit: { changes: { [uri]: [edit] } },
  });
  // A client may add members to the diagnostics that it sends back, or leave them out.
  const asGiven = (own: Diagnostic): Diagnostic =>
    given.find((one) => one.code === own.code && isSame(one.range, own.range)) ?? own;
  if (grammar !== null) {
    return grammar.findings.flatMap((finding) => {
      const own = diagnosticOf(finding, (span) => document.range(span), uri);
      if (!touches(own.range, range)) return [];
      return grammarFixes(grammar, document.text, finding).map(({ title, span, text }, index) =>
        fix(
          title,
          { range: document.range(span), newText: text },
          asGiven(own),
          index === 0 && finding.severity === 'error',
        ),
      );
    });
  }
  return document.lines(range.start.line, range.end.line).flatMap(([line, { messages }]) =>
    messages.flatMap((message): CodeAction[] => {
      const language = LANGUAGES[message.protocol];
      const edit = (span: Span, text: string): TextEdit | null => {
        const newText = message.escape(text);
        return newText === null ? null : { range: document.rangeIn(line, message, span), newText };
      };
      const fixes = message.findings.flatMap((finding) => {
        const own = messageDiagnostic(document, line, message, finding);
        if (!touches(own.range, range)) return [];
        return language
          .fixes(message.text, finding, document.settings)
          .flatMap(({ title, span, text, isPartial = false }, index) => {
            const change = edit(span, text);
            const isPreferred = index === 0 && !isPartial;
            return change === null ? [] : [fix(message.written(title), change, asGiven(own), isPreferred)];
          });
      });
      const whole = document.rangeIn(line, message, { start: 0, end: message.text.length });
      const canonical =
        message.holes.length > 0 || !touches(whole, range) ? null : language.format(message.text, document.settings);
      const change =
        canonical === null || canonical === message.text
          ? null
          : edit({ start: 0, end: message.text.length }, canonical);
      if (change === null) return fixes;
      const title = 'Write the message in canonical form';
      return [...fixes, { title, kind: CodeActionKind.RefactorRewrite, edit: { changes: { [uri]: [change] } } }];
    }),
  );
}

function isSame(a: Range, b: Range): boolean {
  return compare(a.start, b.start) === 0 && compare(a.end, b.end) === 0;
}

function touches(a: Range, b: Range): boolean {
  return compare(a.start, b.end) <= 0 && compare(b.start, a.end) <= 0;
}

function compare(a: Position, b: Position): number {
  return a.line - b.line || a.character - b.character;
}

/** Returns the explanation of what is at a position. */
export function hover(document: OpenDocument, position: Position) {
  const { grammar } = document;
  if (grammar !== null) {
    const found = ruleHover(grammar, document.offsetAt(position));
    return found === null
      ? null
      : { contents: { kind: MarkupKind.Markdown, value: found.text }, range: document.range(found.span) };
  }
  const at = document.messageAt(position);
  if (at === null) return null;
  const { message, offset } = at;
  const found = LANGUAGES[message.protocol].hover(message.text, offset, document.settings, message.written);
  if (found === null) return null;
  return {
    contents: { kind: MarkupKind.Markdown, value: found.text },
    range: document.rangeIn(position.line, message, found.span),
  };
}

const ITEM_KINDS: Readonly<Record<CompletionWord['kind'], CompletionItemKind>> = {
  agent: CompletionItemKind.Module,
  keyword: CompletionItemKind.Keyword,
  operation: CompletionItemKind.Function,
  key: CompletionItemKind.Property,
  value: CompletionItemKind.EnumMember,
  reference: CompletionItemKind.Reference,
  rule: CompletionItemKind.Function,
};

/** Starts of messages in prose that the finder does not take for messages yet. */
const STARTED = {
  accp: /(?<![A-Za-z0-9])@[\w-]*>[A-Za-z]*$/,
  aacp: /(?<![\w|@/.-])[A-Z][A-Z0-9_-]*\|(?:[A-Z]*|[A-Z][A-Z0-9_-]*\|[a-z_]*)$/,
};

/** Returns the words that can stand at a position. */
export function completions(document: OpenDocument, position: Position): CompletionItem[] {
  const { grammar } = document;
  const item = ({ word, kind, detail, suffix = '' }: CompletionWord, range: Range, index: number): CompletionItem => ({
    label: word,
    kind: ITEM_KINDS[kind],
    ...(detail ? { detail } : {}),
    // In the order of the vocabulary.
    sortText: String(index).padStart(4, '0'),
    filterText: word,
    textEdit: { range, newText: word + suffix },
  });
  if (grammar !== null) {
    const found = completeRule(grammar, document.text, document.offsetAt(position));
    return found?.words.map((word, index) => item(word, document.range(found.span), index)) ?? [];
  }
  const at = messageForCompletion(document, position);
  if (at === null) return [];
  const { message, offset } = at;
  // A word in place of an interpolation would remove it.
  if (message.holes.some(({ start, end }) => start < offset && offset < end)) return [];
  const found = LANGUAGES[message.protocol].complete(message.text, offset, document.settings, seenIn(document));
  const range = found && document.rangeIn(position.line, message, found.span);
  return (
    found?.words.map((word, index) => item({ ...word, word: message.escape(word.word) ?? word.word }, range!, index)) ??
    []
  );
}

function messageForCompletion(document: OpenDocument, position: Position): { message: Message; offset: number } | null {
  const at = document.messageAt(position);
  if (at !== null) return at;
  const { line, character } = position;
  const text = document.lineText(line);
  const { content } = document;
  const before = text.slice(0, character);
  const make = (protocol: Message['protocol'], start: number) => {
    const message: Message = {
      ...{ protocol, start, end: character, text: text.slice(start, character), holes: [] },
      columnOf: (offset) => start + offset,
      escape: (one) => one,
      written: (one) => one,
    };
    return { message, offset: character - start };
  };
  // A blank line begins a message; a comment has none.
  if (content === 'accp' || content === 'aacp') return before.trim() === '' ? make(content, character) : null;
  for (const protocol of ['accp', 'aacp'] as const) {
    const started = STARTED[protocol].exec(before);
    if (started !== null) return make(protocol, started.index);
  }
  return null;
}

const words = new WeakMap<CheckedMessage, MessageWords>();

function seenIn(document: OpenDocument): SeenWords {
  const seen = {
    agents: new Set<string>(),
    operations: new Set<string>(),
    ids: new Set<string>(),
    references: new Set<string>(),
  };
  for (const [, { messages }] of document.lines()) {
    for (const message of messages) {
      const own = words.get(message) ?? LANGUAGES[message.protocol].words(message.text);
      words.set(message, own);
      // Names in incomplete messages are often incomplete, too.
      if (message.findings.some(({ severity }) => severity === 'error')) continue;
      for (const name of ['agents', 'operations', 'ids', 'references'] as const)
        for (const word of own[name]) seen[name].add(message.written(word));
    }
  }
  return seen;
}

/** Returns the edits that write the lines of a range in canonical form, if they are messages and valid; of a grammar, those of its white space. */
export function formatting(document: OpenDocument, range?: Range): TextEdit[] {
  const { content, grammar } = document;
  if (grammar !== null) {
    return formatGrammar(grammar, document.text)
      .map(({ span, text }) => ({ range: document.range(span), newText: text }))
      .filter((edit) => range === undefined || touches(edit.range, range));
  }
  if (content !== 'accp' && content !== 'aacp') return [];
  return document.lines(range?.start.line, range?.end.line).flatMap(([line, { text, messages }]) => {
    const own = messages[0]?.text;
    const canonical =
      own === undefined ? (/[^ \t]/.test(text) ? null : '') : LANGUAGES[content].format(own, document.settings);
    if (canonical === null || canonical === text) return [];
    return [{ range: { start: { line, character: 0 }, end: { line, character: text.length } }, newText: canonical }];
  });
}

const colors = new WeakMap<CheckedMessage, readonly ColoredSpan[]>();

/** Adds the semantic tokens of a document, or of a part, to a builder. */
export function pushTokens(document: OpenDocument, builder: SemanticTokensBuilder, part?: Range): void {
  const push = ({ start, end }: Range, { type, modifier }: ColoredSpan): void => {
    const modifiers = modifier === undefined ? 0 : 1 << TOKEN_MODIFIERS.indexOf(modifier);
    builder.push(start.line, start.character, end.character - start.character, TOKEN_TYPES.indexOf(type), modifiers);
  };
  const { grammar } = document;
  if (grammar !== null) {
    for (const color of grammarColors(grammar, document.text)) {
      const range = document.range(color);
      if (part === undefined || touches(range, part)) push(range, color);
    }
    return;
  }
  for (const [line, { messages, text }] of document.lines(part?.start.line, part?.end.line)) {
    if (document.content !== 'other' && /^[ \t]*#/.test(text)) {
      push(
        { start: { line, character: 0 }, end: { line, character: text.length } },
        { start: 0, end: text.length, type: 'comment' },
      );
    }
    for (const message of messages) {
      const own = colors.get(message) ?? LANGUAGES[message.protocol].colors(message.text);
      colors.set(message, own);
      for (const color of own) {
        const isHole = message.holes.some(({ start, end }) => color.start < end && start < color.end);
        if (!isHole) push(document.rangeIn(line, message, color), color);
      }
    }
  }
}

const SYMBOL_KINDS: Readonly<Record<Outline['kind'], SymbolKind>> = {
  message: SymbolKind.Event,
  key: SymbolKind.Property,
  rule: SymbolKind.Function,
  code: SymbolKind.Module,
};

/** Returns the outline of a document. */
export function symbols(document: OpenDocument): DocumentSymbol[] {
  const symbol = (
    { name, detail, kind, span, selection, children }: Outline,
    rangeOf: (span: Span) => Range,
    written = (text: string) => text,
  ): DocumentSymbol => ({
    name: written(name),
    detail: written(detail).slice(0, 80),
    kind: SYMBOL_KINDS[kind],
    range: rangeOf(span),
    selectionRange: rangeOf(selection),
    children: children.map((child) => symbol(child, rangeOf, written)),
  });
  const { grammar } = document;
  if (grammar !== null) return grammarOutline(grammar).map((one) => symbol(one, (span) => document.range(span)));
  return document
    .lines()
    .flatMap(([line, { messages }]) =>
      messages.map((message) =>
        symbol(
          LANGUAGES[message.protocol].outline(message.text),
          (span) => document.rangeIn(line, message, span),
          message.written,
        ),
      ),
    );
}

/** Returns the places where the rule, the state or the message at a position is defined. */
export function definitions(document: OpenDocument, position: Position): Location[] {
  const { grammar, uri } = document;
  if (grammar !== null) {
    const at = ruleAt(grammar, document.offsetAt(position));
    return at === undefined ? [] : definitionsOf(grammar, at.name).map((one) => ({ uri, range: document.range(one) }));
  }
  const at = document.messageAt(position);
  if (at?.message.protocol !== 'accp') return [];
  const all = document
    .lines()
    .flatMap(([line, { messages }]) =>
      messages.filter(({ protocol }) => protocol === 'accp').map((message) => ({ line, text: message.text, message })),
    );
  const own = all.find(({ message }) => message === at.message);
  const target = own && definitionOf(own, at.offset, all);
  return target ? [{ uri, range: document.rangeIn(target.frame.line, target.frame.message, target.span) }] : [];
}

/** Returns the places where the rule at a position is used. */
export function references(document: OpenDocument, position: Position, withDefinition: boolean): Location[] {
  const { grammar, uri } = document;
  const at = grammar && ruleAt(grammar, document.offsetAt(position));
  if (!at) return [];
  const found = [...(withDefinition ? definitionsOf(grammar, at.name) : []), ...usesOf(grammar, at.name)];
  return found.map((one) => ({ uri, range: document.range(one) }));
}

/** Returns the name of the rule at a position, which can be renamed. */
export function prepareRename(
  document: OpenDocument,
  position: Position,
): { range: Range; placeholder: string } | null {
  const { grammar } = document;
  const at = grammar && ruleAt(grammar, document.offsetAt(position));
  return at && definitionsOf(grammar, at.name).length > 0 ? { range: document.range(at), placeholder: at.name } : null;
}

/** Renames the rule at a position. @throws ResponseError if there is none, or the name cannot be used */
export function rename(document: OpenDocument, position: Position, newName: string) {
  const { grammar, uri } = document;
  const at = prepareRename(document, position);
  if (at === null || grammar === null)
    throw new ResponseError(ErrorCodes.InvalidRequest, 'Only a rule of a grammar can be renamed.');
  if (newName === at.placeholder) return null;
  const why = whyNotName(grammar, newName);
  if (why !== null) throw new ResponseError(ErrorCodes.InvalidParams, `The rule is not renamed: ${why}.`);
  const places = [...definitionsOf(grammar, at.placeholder), ...usesOf(grammar, at.placeholder)];
  return { changes: { [uri]: places.map((one) => ({ range: document.range(one), newText: newName })) } };
}
