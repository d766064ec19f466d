/** A client in a process of its own. */
import process from 'node:process';
import { expect, test } from 'vitest';
import { listenAcp } from '../../../src/acp/http/index.js';
import { createConnection } from '../../../src/acp/index.js';
import { bundledProgram } from '../../helpers/bundled-program.js';
import { ended, start } from '../../helpers/child.js';

const client = bundledProgram(new URL('waiting-client.ts', import.meta.url));

test.each(['http', 'ws'] as const)(
  'runs while it waits for an answer over %s, and ends after it has closed',
  async (scheme) => {
    const handlers = {
      initialize: () => ({}),
      think: () => new Promise((resolve) => setTimeout(resolve, 300, 'thought')),
    };
    const server = await listenAcp((channel) => createConnection(channel, { handlers }));
    const { code, stdout, stderr } = await ended(start([process.execPath, client(), server[scheme]], { stdin: '' }));
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'thought\n', stderr: '' });
    await server.close();
  },
);
