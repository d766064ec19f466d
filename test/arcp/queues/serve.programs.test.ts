/** `pegwire arcp serve` on a message queue, and the commands of a client, as programs. */
import process from 'node:process';
import { afterEach, describe, expect, test } from 'vitest';
import { ended, start } from '../../helpers/child.js';
import { cli, PROGRAM } from '../../helpers/cli.js';
import { natsHint, natsUrl, rabbitmqHint, rabbitmqUrl } from '../../helpers/message-queues.js';

const killing: (() => void)[] = [];
afterEach(() => {
  for (const kill of killing.splice(0)) kill();
});

const NAME = `test-${process.pid}`;
const { host } = new URL(rabbitmqUrl);
const QUEUES: readonly [name: string, option: string, url: string, address: string, target: string][] = [
  [`NATS${natsHint}`, 'nats', natsUrl, `${natsUrl}/${NAME}`, `${natsUrl}/${NAME}`],
  [`RabbitMQ${rabbitmqHint}`, 'rabbitmq', rabbitmqUrl, `amqp://${host}?name=${NAME}`, `${rabbitmqUrl}?name=${NAME}`],
];

for (const [name, option, url, address, target] of QUEUES)
  describe.skipIf(name.includes('(skipped: '))(`arcp serve over ${name}`, () => {
    test('serves commands by address, shows no password, and stops', async () => {
      const child = start([
        ...PROGRAM,
        'arcp',
        'serve',
        `--${option}`,
        url,
        `--${option}-name`,
        NAME,
        '--token',
        'secret',
      ]);
      killing.push(() => child.kill('SIGKILL'));
      const over = ended(child);
      const shown = await new Promise<string>((resolve) => {
        child.stdout.once('data', (line) => resolve(String(line).trim()));
      });
      expect(shown).toBe(address);
      const invoked = ['arcp', 'invoke', target, 'add', '{"a":1,"b":2}'];
      expect(await cli([...invoked, '--token', 'secret'])).toMatchObject({ code: 0, stdout: '3\n' });
      expect((await cli([...invoked, '--token', 'wrong'])).code).not.toBe(0);
      child.kill('SIGTERM');
      expect(await over).toMatchObject({ code: 0, stderr: '' });
    });
  });

test.each([
  [['--nats', 'nowhere'], '--nats needs a URL such as nats://HOST:4222; got "nowhere"'],
  [['--rabbitmq', 'nowhere'], '--rabbitmq needs a URL such as amqp://HOST:5672; got "nowhere"'],
  [['--rabbitmq', 'http://user:S3CRET@127.0.0.1'], 'got "http://***@127.0.0.1"'],
  [['--rabbitmq', 'amqp://127.0.0.1:1'], 'Cannot connect to RabbitMQ at 127.0.0.1:1'],
])('explains what is wrong with %j', async (args, message) => {
  const { code, stderr } = await cli(['arcp', 'serve', ...args]);
  expect(stderr).toContain(message);
  expect(code).toBe(2);
});
