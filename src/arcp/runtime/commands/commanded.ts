/** What became of a command. */
import type { StoredRecord } from '../../store/store.js';

export interface Commanded {
  /** It was carried out before: what is kept of that. Without it, it was carried out now, and is answered. */
  readonly former?: StoredRecord | undefined;
  /** What it is answered with, where that is no event. */
  readonly answer?: string | undefined;
}
