import type { ast } from 'peggy';
import type { Item } from 'railroad-diagrams';
import railroad from 'railroad-diagrams';
import { quoted, visible } from '../text/visible.js';

interface RailroadOptions {
  /** The title at the top, also for screen readers. @default "Grammar" */
  readonly title?: string | undefined;
}

/** Sizes in pixels: the margin, the height of a line of text, and the minimum width. */
const MARGIN = 20;
const HEADING = 30;
const MIN_WIDTH = 240;
/** Room for lines at the edge of a diagram. */
const STROKE = 2;

/** Without `<` and `&`, which have a meaning in XML. */
const STYLE = `
svg { background-color: #fff; }
text { font: 14px monospace; text-anchor: middle; white-space: pre; fill: #111; }
text.title { font: bold 20px sans-serif; text-anchor: start; }
text.rule { font: bold 16px sans-serif; text-anchor: start; }
text.comment { font: italic 12px monospace; fill: #444; }
path { stroke-width: 2; stroke: #333; fill: none; }
rect { stroke-width: 2; stroke: #333; fill: #e8f3e8; }
a rect { fill: #e6eefb; }
a text { fill: #0b3d91; text-decoration: underline; }
g.lookahead path, g.lookahead rect { stroke-dasharray: 4 3; }
g.lookahead rect { fill: #fff; }
`;

/**
 * Draws all rules of a grammar as railroad diagrams, in the order of the grammar, in one SVG. References link to the
 * diagrams of their rules. Lookaheads are dashed; predicates in code are comments. The result is well-formed XML for
 * any grammar, and deterministic.
 */
export function railroadDiagrams({ rules }: ast.Grammar, { title = 'Grammar' }: RailroadOptions = {}): string {
  const names = new Set(rules.map(({ name }) => name));
  const hrefOf = (name: string): string | null =>
    names.has(name) ? attribute(`#${encodeURIComponent(visible(name))}`) : null;
  let width = MIN_WIDTH;
  let y = MARGIN + HEADING;
  const sections = rules.map((rule) => {
    const { name, expression } = rule;
    const isNamed = expression.type === 'named';
    const heading = visible(name) + (isNamed ? ` ${quoted(expression.name)}` : '');
    const diagram = railroad.Diagram(itemOf(isNamed ? expression.expression : expression, hrefOf)).format(STROKE);
    diagram.attrs['x'] = MARGIN;
    diagram.attrs['y'] = y + HEADING;
    const section = `<g id="${attribute(visible(name))}">
<text class="rule" x="${MARGIN}" y="${y + 16}">${content(heading)}</text>
${diagram.toString()}</g>
`;
    width = Math.max(width, Number(diagram.attrs['width']) + 2 * MARGIN);
    y += HEADING + Number(diagram.attrs['height']) + MARGIN;
    return section;
  });
  const shown = content(visible(title));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}" role="group" aria-labelledby="diagram-title">
<title id="diagram-title">${shown}</title>
<style>${STYLE}</style>
<text class="title" x="${MARGIN}" y="${MARGIN + 16}">${shown}</text>
${sections.join('')}</svg>
`;
}

function content(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function attribute(text: string): string {
  return content(text).replaceAll('"', '&quot;');
}

const { Choice, Comment, NonTerminal, OneOrMore, Optional, Sequence, Skip, Terminal, ZeroOrMore } = railroad;

/** Draws an expression, without actions, labels, `@` and `$`. */
function itemOf(expression: ast.Expression, hrefOf: (rule: string) => string | null): Item {
  const item = (inner: ast.Expression): Item => itemOf(inner, hrefOf);
  switch (expression.type) {
    case 'action':
    case 'labeled':
    case 'group':
    case 'text':
      return item(expression.expression);
    case 'choice':
      return Choice(0, ...expression.alternatives.map(item));
    case 'sequence':
      return Sequence(...expression.elements.map(item));
    case 'optional':
      return Optional(item(expression.expression));
    case 'zero_or_more':
      return ZeroOrMore(item(expression.expression));
    case 'one_or_more':
      return OneOrMore(item(expression.expression));
    case 'repeated':
      return repeated(expression, item);
    case 'simple_and':
      return lookahead('followed by', item(expression.expression));
    case 'simple_not':
      return lookahead('not followed by', item(expression.expression));
    case 'semantic_and':
      return Comment(`if ${codeText(expression.code)}`);
    case 'semantic_not':
      return Comment(`unless ${codeText(expression.code)}`);
    case 'rule_ref':
      return linked(NonTerminal(visible(expression.name)), hrefOf(expression.name));
    case 'library_ref':
      return NonTerminal(visible([expression.library, expression.name ?? []].flat().join('.')));
    case 'literal':
      return expression.value === ''
        ? Skip()
        : Terminal(`${quoted(expression.value)}${expression.ignoreCase ? 'i' : ''}`);
    case 'class':
      return Terminal(classText(expression));
    case 'any':
      return Comment('any character');
  }
}

/** A box that links to the diagram of a rule. The tracks to and from it are not part of the link. */
function linked(box: Item, href: string | null): Item {
  if (href === null) return box;
  const format = box.format;
  box.format = (x, y, width) => {
    format.call(box, x, y, width);
    const [before, after, ...content] = box.children;
    box.children = [before, after, { toString: () => `<a href="${href}">\n${content.join('')}</a>\n` }];
    return box;
  };
  return box;
}

function lookahead(text: string, item: Item): Item {
  const all = Sequence(Comment(text), item);
  all.attrs['class'] = 'lookahead';
  return all;
}

function repeated({ expression, delimiter, min, max }: ast.Repeated, item: (inner: ast.Expression) => Item): Item {
  const least = boundText(min ?? max);
  const most = boundText(max);
  const inner = item(expression);
  if (most === '1')
    return least === '1' ? inner : least === '0' ? Optional(inner) : Sequence(inner, Comment(`${least} to 1 times`));
  const back = delimiter === null ? [] : [item(delimiter)];
  const times = timesText(least, most);
  const loop = OneOrMore(inner, Sequence(...back, ...(times === null ? [] : [Comment(times)])));
  // A bound that only the parser knows may be zero.
  return /^[1-9]/.test(least ?? '') ? loop : Optional(loop);
}

/** The label of a loop, such as `2 to 5 times`; null if the loop needs none. */
function timesText(least: string | null, most: string | null): string | null {
  if (least === most) return least === null ? null : `${least} times`;
  if (most === null) return least === '0' || least === '1' || least === null ? null : `${least} times or more`;
  return least === '0' || least === null ? `up to ${most} times` : `${least} to ${most} times`;
}

function boundText(bound: ast.RepeatedBoundary | null): string | null {
  // Without an upper bound, Peggy's tree has a constant without a number.
  if (bound === null || bound.value === null) return null;
  return bound.type === 'function' ? codeText(bound.value) : visible(String(bound.value));
}

function codeText(code: string): string {
  const characters = [...code.replace(/\s+/g, ' ').trim()];
  const shown = characters.length > 40 ? [...characters.slice(0, 37), '...'] : characters;
  return visible(`{ ${shown.join('')} }`);
}

/** A class in Peggy's notation, with all characters visible. */
function classText({ parts, inverted, ignoreCase, unicode }: ast.CharacterClass): string {
  const member = (text: string): string => visible(text.replace(/[\\\]^-]/g, '\\$&'));
  const shown = parts.map((part) => {
    if (typeof part === 'string') return member(part);
    return Array.isArray(part) ? part.map(member).join('-') : `\\${visible(part.value)}`;
  });
  return `[${inverted ? '^' : ''}${shown.join('')}]${ignoreCase ? 'i' : ''}${unicode ? 'u' : ''}`;
}
