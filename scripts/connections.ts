/**
 * Opens many WebSocket connections at the same time, sends a request on each about every second, and checks the responses.
 *
 *     npx tsx scripts/connections.ts --connections 1000 --seconds 60
 *
 * Server and client run in separate processes. Exits with 1 on any error.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { describeConnections, measureConnections } from '../test/accp/bindings/programs/measure-connections.js';

const { values } = parseArgs({
  options: { connections: { type: 'string', default: '1000' }, seconds: { type: 'string', default: '60' } },
});
const connections = Number(values.connections);
const seconds = Number(values.seconds);
if (!Number.isSafeInteger(connections) || connections < 1 || !(seconds >= 0)) {
  process.stderr.write(
    `--connections must be a positive integer, --seconds a non-negative number; got ${values.connections} and ${values.seconds}\n`,
  );
  process.exit(2);
}
try {
  const figures = await measureConnections(connections, seconds);
  process.stdout.write(`${describeConnections(figures)}\n`);
  if (figures.errors > 0 || figures.connections < connections) process.exitCode = 1;
} catch (thrown) {
  process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  process.exitCode = 1;
}
