/**
 * Shrinks a text that shows a behavior: removes chunks, from half the text down to single characters, as long as
 * `shows` stays true. Greedy: the result is small, but need not be the smallest.
 */
export function shrink(text: string, shows: (text: string) => boolean): string {
  const smaller = withoutChunks(text, shows);
  // The removed part may have been the reason that an earlier chunk stayed.
  return smaller === text ? text : shrink(smaller, shows);
}

function withoutChunks(text: string, shows: (text: string) => boolean): string {
  let rest = text;
  for (let size = Math.ceil(text.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < rest.length; ) {
      const candidate = rest.slice(0, at) + rest.slice(at + size);
      if (shows(candidate)) rest = candidate;
      else at += size;
    }
  }
  return rest;
}
