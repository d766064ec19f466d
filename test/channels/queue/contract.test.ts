/** Channels over message queues fulfil the contract of channels, on a bus that works and on one that does not. */
import process from 'node:process';
import type { Channel } from '../../../src/channels/channel.js';
import { openNats } from '../../../src/channels/node/nats.js';
import { openRabbitmq } from '../../../src/channels/node/rabbitmq.js';
import { dialQueue, listenQueue, type MessageBus } from '../../../src/channels/queue/dial.js';
import { natsHint, natsUrl, rabbitmqHint, rabbitmqUrl } from '../../helpers/message-queues.js';
import { channelContract, type Ends } from '../contract.js';
import { FakeBus, type Faults } from './fake-bus.js';

const FAST = { heartbeatMs: 200, timeoutMs: 2000, retransmitMs: 30 };
let opened = 0;

/** Opens a connection over a bus. @param own options of `here` alone */
async function connectedOver(bus: MessageBus, options: object, own: object = {}): Promise<Ends> {
  const subject = `test.${process.pid}.${++opened}`;
  let accept!: (channel: Channel) => void;
  const accepted = new Promise<Channel>((resolve) => {
    accept = resolve;
  });
  const { close } = await listenQueue(bus, subject, (channel) => accept(channel), { ...FAST, ...options });
  const here = await dialQueue(bus, subject, { ...FAST, ...options, ...own });
  return { here, there: await accepted, close };
}

const openFake =
  (faults: Faults, own = {}) =>
  async (options = {}): Promise<Ends> => {
    const bus = new FakeBus(opened, faults);
    return { ...(await connectedOver(bus, options, own)), cut: () => bus.close() };
  };

channelContract('a bus', openFake({}));
channelContract('a bus that loses, repeats and reorders', openFake({ lose: 0.05, repeat: 0.05, reorder: 0.1 }));
channelContract(
  'a bus with a window shorter than a message',
  openFake({}, { windowMessages: 20, windowBytes: 16 * 1024 }),
);

channelContract(
  'NATS',
  async (options = {}) => {
    const { bus, close } = await openNats({ servers: natsUrl });
    const ends = await connectedOver(bus, options);
    const closeAll = async (): Promise<void> => {
      await ends.close();
      await close();
    };
    return { ...ends, cut: () => void close(), close: closeAll };
  },
  { hint: natsHint },
);

channelContract(
  'RabbitMQ',
  async (options = {}) => {
    const { bus, close } = await openRabbitmq({ url: rabbitmqUrl });
    const ends = await connectedOver(bus, options);
    const closeAll = async (): Promise<void> => {
      await ends.close();
      await close();
    };
    return { ...ends, cut: () => void close(), close: closeAll };
  },
  { hint: rabbitmqHint },
);
