/** What a `tryX` function returns: the value, or the error that the throwing twin would have thrown. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };
