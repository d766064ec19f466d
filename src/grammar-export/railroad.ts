/** Railroad diagrams of Peggy grammars: one SVG that stands alone, with a diagram for each rule. */
import type { ast } from 'peggy';
import railroad from 'railroad-diagrams';
import { quoted, visible } from '../text/visible.js';
import { itemOf } from './railroad-items.js';

/** What the diagrams are called. */
export interface RailroadOptions {
  /** Read out by screen readers, and shown at the top. @default "Grammar" */
  readonly title?: string | undefined;
}

/** Sizes in pixels: around the whole, of a line of text, and the least width. */
const MARGIN = 20;
const HEADING = 30;
const LEAST_WIDTH = 240;
/** Room for lines at the very edge of a diagram. */
const STROKE = 2;

/** Without `<` and `&`, which XML would read as its own. */
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
 * All rules of a grammar as railroad diagrams, in the order of the grammar, in one SVG. References are links to the diagrams
 * of their rules. Lookaheads are dashed; predicates in code are notes.
 *
 * The text is well-formed XML for any grammar, and the same each time.
 */
export function railroadDiagrams({ rules }: ast.Grammar, { title = 'Grammar' }: RailroadOptions = {}): string {
  const names = new Set(rules.map(({ name }) => name));
  const hrefOf = (name: string): string | null =>
    names.has(name) ? attribute(`#${encodeURIComponent(visible(name))}`) : null;
  let width = LEAST_WIDTH;
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
