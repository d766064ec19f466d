/** The tables of session files. */
import type { Format } from '../../storage/migrate.js';

export const SESSION_FORMAT: Format = {
  name: 'ACCP sessions',
  applicationId: 0x41_43_43_50,
  migrations: [
    `CREATE TABLE endpoint (
       id INTEGER PRIMARY KEY,
       session TEXT NOT NULL,
       agent TEXT NOT NULL,
       -- Rises with every claim; only the latest holder may commit.
       generation INTEGER NOT NULL,
       UNIQUE (session, agent)
     ) STRICT;

     CREATE TABLE entry (
       -- A new row has the highest number, and an update keeps its own: the order in which keys were first set.
       id INTEGER PRIMARY KEY,
       endpoint INTEGER NOT NULL REFERENCES endpoint,
       collection TEXT NOT NULL,
       key TEXT NOT NULL,
       value TEXT NOT NULL,
       UNIQUE (endpoint, collection, key)
     ) STRICT;

     CREATE TABLE cold (
       id INTEGER PRIMARY KEY,
       session TEXT NOT NULL,
       key TEXT NOT NULL,
       value TEXT NOT NULL,
       -- Seconds since 1970, or null for never.
       expires REAL,
       UNIQUE (session, key)
     ) STRICT;
     CREATE INDEX cold_by_key ON cold (key, session);
     CREATE INDEX cold_by_expiry ON cold (expires) WHERE expires IS NOT NULL;`,
  ],
};
