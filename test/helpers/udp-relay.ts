/** A relay of UDP datagrams, which loses, reorders and changes some of them. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** The faults of a network. */
export interface Weather {
  /** The share of datagrams that are lost, from 0 to 1. @default 0 */
  readonly loss?: number;
  /** The share of datagrams that are sent after the next one. @default 0 */
  readonly reorder?: number;
  /** The share of datagrams of which one byte is changed. @default 0 */
  readonly corrupt?: number;
  /** Random numbers from 0 to 1. @default Math.random */
  readonly random?: () => number;
}

export interface UdpRelay {
  readonly port: number;
  /** The number of relayed datagrams, lost ones and reordered ones. */
  readonly counts: { relayed: number; lost: number; reordered: number };
  /** Returns the number of UDP sockets of clients so far. */
  readonly clients: () => number;
  /** Loses everything from now on, also of new clients. */
  readonly cut: () => void;
  /** Relays again. */
  readonly mend: () => void;
  /** Moves each client to a new port, as a NAT does. */
  readonly rebind: () => void;
  readonly close: () => void;
}

/** Starts a relay to a port of this machine. */
export async function udpRelay(target: number, weather: Weather = {}): Promise<UdpRelay> {
  const { loss = 0, reorder = 0, corrupt = 0, random = Math.random } = weather;
  const counts = { relayed: 0, lost: 0, reordered: 0 };
  const front = createSocket('udp4');
  const upstreams = new Map<number, Socket>();
  const seen = new Set<number>();
  let isCut = false;
  const changed = (data: Buffer): Buffer => {
    if (random() < corrupt) data[Math.floor(random() * data.length)]! ^= 1 + Math.floor(random() * 255);
    return data;
  };
  const relayed = (): ((send: () => void) => void) => {
    let held: (() => void) | undefined;
    return (send) => {
      if (isCut || random() < loss) {
        counts.lost++;
        return;
      }
      counts.relayed++;
      if (held === undefined && random() < reorder) {
        counts.reordered++;
        held = send;
        return;
      }
      send();
      held?.();
      held = undefined;
    };
  };
  const inwards = relayed();
  front.on('message', (data, { port }) => {
    seen.add(port);
    let upstream = upstreams.get(port);
    if (upstream === undefined) {
      upstream = createSocket('udp4');
      const outwards = relayed();
      upstream.on('message', (answer) => outwards(() => front.send(changed(answer), port, '127.0.0.1', () => {})));
      upstreams.set(port, upstream);
    }
    const through = upstream;
    inwards(() => {
      if (upstreams.get(port) === through) through.send(changed(data), target, '127.0.0.1', () => {});
    });
  });
  const release = (): void => {
    for (const upstream of upstreams.values()) upstream.close();
    upstreams.clear();
  };
  front.bind(0, '127.0.0.1');
  await once(front, 'listening');
  return {
    port: front.address().port,
    counts,
    clients: () => seen.size,
    cut: () => {
      isCut = true;
    },
    mend: () => {
      isCut = false;
    },
    rebind: release,
    close: () => {
      release();
      front.close();
    },
  };
}
