import { connect } from 'pegwire/arcp/client';
import { createRuntime, listenWebSocket, sqliteStore } from 'pegwire/arcp/runtime';

const runtime = createRuntime({ store: await sqliteStore('work.db'), workers: { leaseMs: 500 } });
runtime.tool('ingest', { durable: true }, async ({ files }, { restored, step, checkpoint, progress }) => {
  for (let done = Number(restored ?? 0); done < files.length; done++) {
    // The result of a step is stored: it is not executed a second time.
    await step(`read:${files[done]}`, () => console.log(`reading ${files[done]}`));
    await checkpoint(done + 1);
    await progress({ current: done + 1, total: files.length });
    if (process.argv.includes('--crash') && done === 1) process.exit(1);
  }
  return { ingested: files.length };
});
const { url } = await listenWebSocket(runtime, { port: 0 });

// Calls with the same operation key are one job, even after a restart.
const client = await connect(url);
const job = client.invoke('ingest', { files: ['a.txt', 'b.txt', 'c.txt'] }, { operationKey: 'ingest:2026-11' });
console.log(await job.result());

await client.close();
await runtime.close();
process.exit();
