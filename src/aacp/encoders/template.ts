/** Templates of fields, read. */
import { isNormalisation, type Normalisation } from './normalise.js';

/** A place for an input. */
export interface Placeholder {
  readonly input: string;
  /** What the input is changed by at this place, after its own normalisations. */
  readonly normalise: readonly Normalisation[];
}

export type Piece = string | Placeholder;

const PLACEHOLDER = /\{([a-z][a-z0-9_]*)(?::([a-z,-]*))?\}/g;

/**
 * The texts and placeholders of a template, in turn; no text is empty.
 *
 * @throws TypeError on a brace that belongs to no placeholder, and on a normalisation that is none
 */
export function readTemplate(template: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  const addText = (text: string): void => {
    if (/[{}]/.test(text)) throw new TypeError(`"${template}" has a brace that is part of no {input}`);
    if (text !== '') pieces.push(text);
  };
  for (const match of template.matchAll(PLACEHOLDER)) {
    addText(template.slice(end, match.index));
    pieces.push({ input: match[1]!, normalise: normalisationsOf(match[2], template) });
    end = match.index + match[0].length;
  }
  addText(template.slice(end));
  return pieces;
}

function normalisationsOf(list: string | undefined, template: string): readonly Normalisation[] {
  if (list === undefined) return [];
  return list.split(',').map((name) => {
    if (!isNormalisation(name)) throw new TypeError(`"${template}": there is no normalisation "${name}"`);
    return name;
  });
}
