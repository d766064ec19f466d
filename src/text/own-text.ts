/** The length from which V8 keeps a part of a text as a view, which retains the whole text in memory. */
const VIEW_LENGTH = 13;

/**
 * Copies a text if it may be a view of a longer one: a short identifier would retain a frame of a megabyte. Concatenating and slicing is
 * three times as fast as copying by character.
 */
export function ownText(text: string): string {
  return text.length < VIEW_LENGTH ? text : ` ${text}`.slice(1);
}
