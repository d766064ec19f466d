/**
 * Holds many WebSocket connections open at a time, with a request on each about every second, and checks every answer:
 *
 *     npx tsx scripts/connections.ts --connections 1000 --seconds 60
 *
 * Server and client are processes of their own. Exits with 1 on any error.
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
    `--connections is a whole number from 1 on, --seconds a number from 0 on; got ${values.connections} and ${values.seconds}\n`,
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
