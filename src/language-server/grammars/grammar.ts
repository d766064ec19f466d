/** A Peggy grammar in an editor: each rule is parsed by itself, so that a change parses one rule again. */
import peggy, { type ast, type LocationRange } from 'peggy';
import fast from '../../peggy-fast/peggy-plugin.js';
import type { Span } from '../../text/span.js';
import { nearest } from '../../text/suggest.js';
import type { Finding } from '../language.js';
import { type Piece, splitGrammar } from './segments.js';

/** A piece of a grammar with its tree. */
interface Segment extends Piece {
  /** The identity of the text, which locations in the tree name as their source. */
  readonly id: string;
  readonly tree: ast.Grammar | null;
  readonly error: { readonly message: string; readonly span: Span } | null;
  /** The references of the rule, in the offsets of the segment. */
  readonly references: readonly (Span & { readonly name: string })[];
}

/** A name of a rule in the text: where it is defined, or used. */
export interface RuleName extends Span {
  readonly name: string;
  readonly isDefinition: boolean;
}

export interface Grammar {
  readonly segments: readonly Segment[];
  /** All names of rules, in the order of the text. */
  readonly names: readonly RuleName[];
  readonly findings: readonly Finding[];
  /** The number of segments that were parsed for this version. */
  readonly parsed: number;
}

let lastId = 0;

/** Reads a grammar. @param before the previous version, whose unchanged rules are not parsed again */
export function readGrammar(text: string, before?: Grammar): Grammar {
  const known = new Map(before?.segments.map((segment) => [segment.text, segment]));
  const used = new Set<string>();
  let parsed = 0;
  const segments = splitGrammar(text).map((piece): Segment => {
    const same = known.get(piece.text);
    // Two equal rules have two identities.
    if (same !== undefined && same.name === piece.name && !used.has(same.id)) {
      used.add(same.id);
      return { ...same, start: piece.start };
    }
    parsed++;
    return parseSegment(piece);
  });
  const names = segments
    .flatMap((segment) => [
      ...definitionsIn(segment),
      ...segment.references.map((one) => ({ ...one, isDefinition: false, ...shifted(one, segment) })),
    ])
    .sort((a, b) => a.start - b.start);
  return { segments, names, findings: [...syntaxFindings(segments), ...checkRules(segments, names)], parsed };
}

function definitionsIn(segment: Segment): readonly RuleName[] {
  const { name, marks } = segment;
  return name === null ? [] : [{ name, isDefinition: true, ...shifted(marks[0]!, segment) }];
}

function shifted({ start, end }: Span, segment: Piece): Span {
  return { start: start + segment.start, end: end + segment.start };
}

function parseSegment(piece: Piece): Segment {
  const id = `segment ${++lastId}`;
  const { text, name, marks } = piece;
  const byMarks = marks
    .filter(({ type }) => type === 'reference' && name !== null)
    .map(({ start, end }) => ({ start, end, name: text.slice(start, end) }));
  try {
    // What precedes the rules is a grammar only with a rule.
    const tree = parse(name === null ? `${text}\nx = ""` : text, id);
    if (name === null) tree.rules = [];
    return { ...piece, id, tree, error: null, references: referencesIn(tree) };
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    // Nested too deeply for the stack, for example.
    const location = 'location' in thrown ? (thrown.location as LocationRange) : undefined;
    const last = marks.findLast(({ type }) => type !== 'comment')?.end ?? text.length;
    const start = Math.min(location?.start.offset ?? 0, last);
    const span = { start, end: Math.min(Math.max(location?.end.offset ?? last, start), last) };
    // A rule ends where the next one begins.
    const message = thrown.message.replace(/\bend of input found\.$/, 'end of the rule found.');
    return {
      ...piece,
      id,
      tree: name === null ? null : stubOf(name, id),
      error: { message, span },
      references: byMarks,
    };
  }
}

/** Returns a rule with this name for the others that refer to it; `null` if it cannot be the name of a rule. */
function stubOf(name: string, id: string): ast.Grammar | null {
  try {
    return parse(`${name} = .`, id);
  } catch {
    return null;
  }
}

function parse(text: string, id: string): ast.Grammar {
  return peggy.parser.parse(text, { grammarSource: id, reservedWords: peggy.RESERVED_WORDS }) as ast.Grammar;
}

function referencesIn(tree: ast.Grammar): Segment['references'] {
  const found: Segment['references'][number][] = [];
  const visit = peggy.compiler.visitor.build({
    rule_ref: ({ name, location }: ast.RuleReference) => {
      found.push({ name, start: location.start.offset, end: location.start.offset + name.length });
    },
  });
  try {
    visit(tree);
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
  }
  return found;
}

function syntaxFindings(segments: readonly Segment[]): readonly Finding[] {
  const findings: Finding[] = segments.flatMap((segment) =>
    segment.error === null
      ? []
      : [
          {
            code: 'grammar-syntax',
            severity: 'error' as const,
            message: segment.error.message,
            span: shifted(segment.error.span, segment),
          },
        ],
  );
  const [only] = segments;
  if (segments.length === 1 && only!.name === null && only!.error === null) {
    const message = 'The grammar has no rule.';
    findings.push({
      code: 'grammar-syntax',
      severity: 'error',
      message,
      span: { start: 0, end: 0 },
      help: 'write a rule as name = expression',
    });
  }
  return findings;
}

/** Peggy's checks in the order in which they can run: a later one may not end on a grammar that fails an earlier one. */
const { prepare, check } = peggy.compiler.passes;
const PASSES = [
  ...prepare.filter(({ name }) => name === 'addImportedRules'),
  ...check.filter(({ name }) => name !== 'reportInfiniteRepetition'),
];
const RECURSION = prepare.filter(({ name }) => name === 'reportInfiniteRecursion');
const REPETITION = check.filter(({ name }) => name === 'reportInfiniteRepetition');

function checkRules(segments: readonly Segment[], names: readonly RuleName[]): readonly Finding[] {
  const rules = segments.flatMap(({ tree }) => tree?.rules ?? []);
  if (rules.length === 0) return [];
  const bySource = new Map(segments.map((segment) => [segment.id, segment]));
  const header = segments.find(({ name }) => name === null)?.tree;
  const whole = { ...rulesTree(rules[0]!), rules, imports: header?.imports ?? [] } as ast.Grammar;
  const defined = [...new Set(names.filter(({ isDefinition }) => isDefinition).map(({ name }) => name))];

  const spanOf = (location: LocationRange | undefined): Span | undefined => {
    const segment = bySource.get(String(location?.source));
    if (location === undefined || segment === undefined) return undefined;
    return shifted({ start: location.start.offset, end: location.end.offset }, segment);
  };
  const findings: Finding[] = [];
  for (const passes of [PASSES, RECURSION, REPETITION]) {
    if (passes === REPETITION && findings.length > 0) break;
    for (const { message, location, notes } of problemsOf(whole, passes)) {
      const name = /^Rule "(.*)" is not defined$/.exec(message)?.[1];
      const near = name === undefined ? undefined : nearest(name, defined);
      findings.push({
        code: name === undefined ? 'grammar-invalid' : 'undefined-rule',
        severity: 'error',
        message: `${message.replace(/\.$/, '')}.`,
        span: spanOf(location) ?? { start: 0, end: 0 },
        help: near && `did you mean "${near}"?`,
        related: notes.flatMap((note) => spanOf(note) ?? []),
      });
    }
  }
  return [...findings, ...unusedRules(segments, names)];
}

function rulesTree(rule: ast.Rule): ast.Grammar {
  return { type: 'grammar', imports: [], rules: [], location: rule.location } as unknown as ast.Grammar;
}

interface Problem {
  readonly message: string;
  readonly location: LocationRange | undefined;
  readonly notes: readonly LocationRange[];
}

function problemsOf(tree: ast.Grammar, passes: readonly unknown[]): readonly Problem[] {
  const found: Problem[] = [];
  const options = {
    output: 'ast',
    error: (
      _stage: string,
      message: string,
      location?: LocationRange,
      notes: readonly { location: LocationRange }[] = [],
    ) => void found.push({ message, location, notes: notes.map((note) => note.location) }),
  };
  try {
    peggy.compiler.compile(
      tree,
      { prepare: passes, check: [], transform: [], semantic: [], generate: [] } as never,
      options as never,
    );
  } catch (thrown) {
    if (!(thrown instanceof peggy.GrammarError))
      found.push({ message: String((thrown as Error).message), location: undefined, notes: [] });
  }
  return found;
}

/** Reports the rules that cannot be reached from the first one. They may be start rules all the same. */
function unusedRules(segments: readonly Segment[], names: readonly RuleName[]): readonly Finding[] {
  const byName = new Map(segments.flatMap((segment) => (segment.name === null ? [] : [[segment.name, segment]])));
  const [first] = byName.keys();
  const reached = new Set([first!]);
  for (const name of reached) for (const one of byName.get(name)?.references ?? []) reached.add(one.name);
  return names
    .filter(({ name, isDefinition }) => isDefinition && !reached.has(name))
    .map(({ name, start, end }) => ({
      code: 'unused-rule',
      severity: 'hint' as const,
      message: `The rule "${name}" is not used by the first rule.`,
      span: { start, end },
      help: 'remove it, unless it is a start rule',
    }));
}

/** Returns the notices of the plugin `pegwire/engine/peggy-plugin` about a grammar; none if Peggy rejects it. Compiles it as a whole. */
export function pluginNotices(text: string): readonly Finding[] {
  const findings: Finding[] = [];
  const onNotice = (message: string): void => {
    const line = Number(/\(line (\d+)\)/.exec(message)?.[1] ?? 1);
    const start = text
      .split('\n')
      .slice(0, line - 1)
      .reduce((offset, one) => offset + one.length + 1, 0);
    const end = text.indexOf('\n', start);
    findings.push({
      code: 'peggy-plugin',
      severity: 'information',
      message,
      span: { start, end: end < 0 ? text.length : end },
      help: 'Peggy alone generates the parser',
    });
  };
  try {
    peggy.generate(text, { output: 'source', plugins: [fast], fast: { onNotice }, allowedStartRules: ['*'] });
  } catch {
    // Errors are reported without the plugin.
    return [];
  }
  return findings;
}
