import process from 'node:process';

/** What the terminal of whoever runs the tests can do, or is told to do, is no part of them. */
for (const name of ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS', 'CI']) delete process.env[name];
