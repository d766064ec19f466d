/** Peggy expressions as pieces of railroad diagrams. */
import type { ast } from 'peggy';
import railroad, { type Item } from 'railroad-diagrams';
import { quoted, visible } from '../text/visible.js';

const { Choice, Comment, NonTerminal, OneOrMore, Optional, Sequence, Skip, Terminal, ZeroOrMore } = railroad;

/**
 * An expression as a piece of a diagram. Actions, labels, `@` and `$` say nothing about what matches, and are not drawn.
 *
 * @param hrefOf where a rule is drawn; `null` where it is not
 */
export function itemOf(expression: ast.Expression, hrefOf: (rule: string) => string | null): Item {
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

/** A box that leads to the diagram of a rule. The tracks to and from it are no part of the link. */
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

/** What is looked at, and not read. */
function lookahead(text: string, item: Item): Item {
  const all = Sequence(Comment(text), item);
  all.attrs['class'] = 'lookahead';
  return all;
}

/** A loop with its delimiter on the way back, and the bounds beside it. */
function repeated({ expression, delimiter, min, max }: ast.Repeated, item: (inner: ast.Expression) => Item): Item {
  const least = boundText(min ?? max);
  const most = boundText(max);
  const inner = item(expression);
  if (most === '1')
    return least === '1' ? inner : least === '0' ? Optional(inner) : Sequence(inner, Comment(`${least} to 1 times`));
  const back = delimiter === null ? [] : [item(delimiter)];
  const times = timesText(least, most);
  const loop = OneOrMore(inner, Sequence(...back, ...(times === null ? [] : [Comment(times)])));
  // A bound that is known to the parser alone may be zero.
  return /^[1-9]/.test(least ?? '') ? loop : Optional(loop);
}

/** `2 to 5 times`; `null` for what the loop says by itself. */
function timesText(least: string | null, most: string | null): string | null {
  if (least === most) return least === null ? null : `${least} times`;
  if (most === null) return least === '0' || least === '1' || least === null ? null : `${least} times or more`;
  return least === '0' || least === null ? `up to ${most} times` : `${least} to ${most} times`;
}

function boundText(bound: ast.RepeatedBoundary | null): string | null {
  // Where there is no upper bound, Peggy gives a constant without a number.
  if (bound === null || bound.value === null) return null;
  return bound.type === 'function' ? codeText(bound.value) : visible(String(bound.value));
}

/** As much of a piece of code as a diagram has room for, in its braces. */
function codeText(code: string): string {
  const characters = [...code.replace(/\s+/g, ' ').trim()];
  const shown = characters.length > 40 ? [...characters.slice(0, 37), '...'] : characters;
  return visible(`{ ${shown.join('')} }`);
}

/** A class in Peggy's notation, with everything in it to be seen. */
function classText({ parts, inverted, ignoreCase, unicode }: ast.CharacterClass): string {
  const member = (text: string): string => visible(text.replace(/[\\\]^-]/g, '\\$&'));
  const shown = parts.map((part) => {
    if (typeof part === 'string') return member(part);
    return Array.isArray(part) ? part.map(member).join('-') : `\\${visible(part.value)}`;
  });
  return `[${inverted ? '^' : ''}${shown.join('')}]${ignoreCase ? 'i' : ''}${unicode ? 'u' : ''}`;
}
