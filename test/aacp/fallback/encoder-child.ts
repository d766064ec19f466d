/**
 * A process that encodes, with a registry file that other processes share, and a model at a URL: `encoder-child.ts FILE URL JOB`.
 *
 * JOB is JSON: the instructions to encode, concurrently or one after the other; and optionally the duration of its
 * reservations. It prints `open`, waits for a line, prints `asked` once it has started, and then each answer as JSON.
 */
import { once } from 'node:events';
import process from 'node:process';
import { createFallbackEncoder, type Registry, sqliteRegistry } from '../../../src/aacp/fallback/index.js';
import { tell } from '../../helpers/tell.js';
import type { Job } from './encoder-children.js';

const [file, url, text] = process.argv.slice(2);
const { instructions, together, lease } = JSON.parse(text!) as Job;

const opened = await sqliteRegistry(file!, { busyTimeoutMs: 30_000 });
const registry: Registry = { ...opened, reserve: (key, wanted) => opened.reserve(key, lease ?? wanted) };

const encoder = createFallbackEncoder({
  registry,
  rules: null,
  async model({ instruction, domain, returnAgent, priority, signal }) {
    const body = JSON.stringify({ instruction, domain, returnAgent, priority });
    const response = await fetch(url!, { method: 'POST', body, signal });
    return (await response.json()) as { text: string };
  },
});

async function encode(instruction: string): Promise<void> {
  const { packet, tier, cost, warnings } = await encoder.encode(instruction, { domain: 'HR' });
  tell(JSON.stringify({ instruction, packet, tier, cost, warnings: warnings.length }));
}

tell('open');
await once(process.stdin, 'data');
process.stdin.pause();

if (together) {
  const answers = instructions.map(encode);
  setTimeout(() => tell('asked'), 0);
  await Promise.all(answers);
} else {
  for (const instruction of instructions) await encode(instruction);
}
await encoder.close();
opened.close();
