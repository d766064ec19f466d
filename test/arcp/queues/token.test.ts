/** The token of a listener on a message queue. */
import { describe, expect, test } from 'vitest';
import { connect } from '../../../src/arcp/client/index.js';
import { listenNats } from '../../../src/arcp/queues/nats.js';
import { createRuntime } from '../../../src/arcp/runtime/index.js';
import { natsHint, natsUrl } from '../../helpers/message-queues.js';

describe.skipIf(natsHint !== '')(`a listener on NATS${natsHint}`, () => {
  test('accepts only clients that send its token', async () => {
    const name = `token-${process.pid}`;
    const runtime = createRuntime().tool('echo', {}, (input) => input);
    const { close } = await listenNats(runtime, { servers: natsUrl, name, token: 'secret' });
    const address = `${natsUrl}/${name}`;
    for (const token of [undefined, 'wrong'])
      await expect(connect(address, { token, reconnect: false })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    const client = await connect(address, { token: 'secret' });
    expect(await client.invoke('echo', { n: 1 }).result()).toEqual({ n: 1 });
    await client.close();
    await close();
    await runtime.close();
  });
});
