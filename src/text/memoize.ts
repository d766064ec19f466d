/** Caches the results of `read`. A full cache of `most` texts is emptied; texts longer than `longest` are not cached. */
export function memoize<T extends object>(read: (text: string) => T, most: number, longest: number) {
  const known = new Map<string, T>();
  return (text: string): T => {
    const remembered = known.get(text);
    if (remembered !== undefined) return remembered;
    const made = read(text);
    if (known.size >= most) known.clear();
    if (text.length <= longest) known.set(text, made);
    return made;
  };
}
