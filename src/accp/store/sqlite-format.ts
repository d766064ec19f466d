/** The format of session files. */
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

    // Times are milliseconds since 1970. An expiry of 0 marks deleted values.
    `ALTER TABLE cold RENAME COLUMN expires TO expires_at;
     UPDATE cold SET expires_at = expires_at * 1000 WHERE expires_at <> 0;

     UPDATE entry SET value = json_set(json_remove(value, '$.deadline'), '$.deadlineAt', value ->> '$.deadline' * 1000)
     WHERE collection = 'chains' AND value ->> '$.deadline' IS NOT NULL;
     UPDATE entry SET value = json_set(json_remove(value, '$.asked'), '$.request', value -> '$.asked')
     WHERE collection = 'chains' AND value ->> '$.asked' IS NOT NULL;
     UPDATE entry SET value = '"abandoned"' WHERE collection = 'streams-ended' AND value = '"left"';
     UPDATE entry SET value = json_set(json_remove(value, '$.at'), '$.updatedAt', value ->> '$.at' * 1000)
     WHERE collection = 'sequences';
     UPDATE entry SET value = json_set(json_remove(value, '$.expires'), '$.expiresAt', value ->> '$.expires' * 1000)
     WHERE collection IN ('state.hot', 'state.warm') AND json_type(value) = 'object';
     UPDATE entry SET value = json_set(
       json_remove(value, '$.at'),
       '$.frozenAt', value ->> '$.at' * 1000,
       '$.values', json((
         SELECT json_group_object(key, json_set(json_remove(value, '$.expires'), '$.expiresAt', value ->> '$.expires' * 1000))
         FROM json_each(entry.value, '$.values')
       ))
     ) WHERE collection = 'state.frozen';`,
  ],
};
