/** `pegwire arcp serve --quic` as a program. */
import { afterEach, expect, test } from 'vitest';
import { dialQuic } from '../../../src/arcp/quic/index.js';
import { ended, start } from '../../helpers/child.js';
import { cli, PROGRAM } from '../../helpers/cli.js';
import { describeQuic, tls } from '../../helpers/quic.js';
import { Wire } from '../runtime/wire.js';

const FILES = ['--tls-key', 'test/fixtures/tls/key.pem', '--tls-cert', 'test/fixtures/tls/certificate.pem'];
const killing: (() => void)[] = [];
afterEach(() => {
  for (const kill of killing.splice(0)) kill();
});

describeQuic('arcp serve --quic', () => {
  test('serves clients, and ends their connections when it is stopped', async () => {
    const child = start([...PROGRAM, 'arcp', 'serve', '--quic', '0', '--token', 'secret', ...FILES]);
    killing.push(() => child.kill('SIGKILL'));
    const over = ended(child);
    const url = await new Promise<string>((resolve) => {
      child.stdout.once('data', (line) => resolve(String(line).trim()));
    });
    expect(url).toMatch(/^quic:\/\/127\.0\.0\.1:\d+$/);
    const wire = new Wire(await dialQuic(url, { ca: tls.cert, serverName: 'localhost' })());
    await wire.open({ auth: { scheme: 'bearer', token: 'secret' } });
    const sent = wire.send('tool.invoke', { tool: 'add', arguments: { a: 1, b: 2 } });
    expect((await wire.answer('tool.result', sent)).payload.result).toBe(3);
    child.kill('SIGTERM');
    await wire.ended();
    await wire.channel.end();
    expect(await over).toMatchObject({ code: 0, stderr: '' });
  });

  const WRONG: readonly [args: readonly string[], message: string][] = [
    [['--quic', '0'], '--quic requires --tls-key and --tls-cert'],
    [['--quic', '0', ...FILES.slice(0, 2)], '--tls-key requires --tls-cert'],
    [['--quic', '0', ...FILES.slice(0, 3), '/nowhere.pem'], '/nowhere.pem'],
    [['--quic', '0', ...FILES.slice(0, 3), 'package.json'], 'Cannot use the key '],
    [['--quic', '0', ...FILES.slice(0, 3), 'test/fixtures/tls/other-authority.pem'], 'Cannot use the key '],
    [['--quic', '0', ...FILES.slice(2), '--tls-key', 'test/fixtures/tls/certificate.pem'], 'Cannot use the key '],
    [['--quic', '70000', ...FILES], 'an integer from 0 to 65535'],
    [['--quic', '0', '--host', '0.0.0.0', ...FILES], '--token'],
  ];

  test.each(WRONG)('explains what is wrong with %j', async (args, message) => {
    const { code, stderr } = await cli(['arcp', 'serve', ...args]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});
