/** The format of registry files. */
import type { Format } from '../../storage/migrate.js';

/** A comment in the schema by which a damaged file is recognised. */
export const REGISTRY_MARK = 'pegwire AACP registry';

export const REGISTRY_FORMAT: Format = {
  name: 'AACP registries',
  applicationId: 0x41_41_43_50,
  migrations: [
    `CREATE TABLE entry ( -- ${REGISTRY_MARK}
       -- Never used twice, so that what still names an entry that has gone names no other.
       number INTEGER PRIMARY KEY AUTOINCREMENT,
       key TEXT NOT NULL UNIQUE,
       domain TEXT NOT NULL,
       -- US dollars; null where that is not known.
       cost REAL,
       -- Milliseconds since 1970.
       created INTEGER NOT NULL,
       last_seen INTEGER NOT NULL,
       times_seen INTEGER NOT NULL,
       served INTEGER NOT NULL,
       -- 1 when a rule covers it.
       covered INTEGER NOT NULL,
       -- The rest, as JSON: it holds any text, and no column could hold a zero character or half of a surrogate pair.
       data TEXT NOT NULL
     ) STRICT;
     CREATE INDEX entry_by_last_seen ON entry (last_seen);
     CREATE INDEX entry_by_created ON entry (created);

     -- Which entries of a domain have a term.
     CREATE TABLE posting (
       domain TEXT NOT NULL,
       term TEXT NOT NULL,
       entry INTEGER NOT NULL,
       PRIMARY KEY (domain, term, entry)
     ) STRICT, WITHOUT ROWID;

     CREATE TABLE reservation (
       key TEXT PRIMARY KEY,
       token TEXT NOT NULL,
       until INTEGER NOT NULL,
       -- How long it was asked for: one that would last longer was made before the clock was set back.
       lease INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID;`,
    // The quotes show that it is a member: inside strings they are escaped.
    `UPDATE entry SET data = replace(data, '"said":', '"givenAt":') WHERE instr(data, '"said":') > 0`,
  ],
};
