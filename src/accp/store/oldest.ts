/** The oldest entries of maps and sets whose size is bounded. */

interface Ordered<K, V> {
  readonly entries: () => MapIterator<[K, V]> | SetIterator<[K, V]>;
  readonly delete: (key: K) => boolean;
}

/**
 * Gives a function that takes out the entry that was set first. One iterator is kept between the calls: a new one would step over
 * the places of all that was taken out before, which are many in a map that is full all the time.
 */
export function takingOldest<K, V>(map: Ordered<K, V>): () => [K, V] | undefined {
  // An iterator keeps all tables that the map has outgrown since its last step: where nothing is taken, there must be none.
  let places: ReturnType<Ordered<K, V>['entries']> | null = null;
  return () => {
    places ??= map.entries();
    let next = places.next();
    if (next.done === true) {
      // An iterator that has come to the end stays there, whatever is set then.
      places = map.entries();
      next = places.next();
      if (next.done === true) return undefined;
    }
    map.delete(next.value[0]);
    return next.value;
  };
}
