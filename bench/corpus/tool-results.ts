/** JSON as tools return it to a model, of seven shapes, made from seeds. */
import type { Half } from '../../src/bench/corpus/texts.js';
import * as texts from '../../src/bench/corpus/texts.js';
import { createRandom, type Random } from '../../src/text/random.js';

export interface ToolResult {
  readonly name: string;
  readonly value: unknown;
}

const PEOPLE = ['Ann Lee', 'Bo Ek', 'Carla Diaz', 'Deng Wei', 'Eva Novak', 'Farid Amin', 'Greta Holm', 'Hugo Blanc'];
const CITIES = ['Oslo', 'Porto', 'Leeds', 'Graz', 'Turku', 'Ghent'];
const PRODUCTS = ['desk lamp', 'USB hub', 'office chair', 'monitor arm', 'headset', 'label printer'];
const SERVICES = ['checkout', 'search', 'billing', 'mailer'];

/** The half `tuning` is for looking at; figures are of `unseen`. */
export function toolResults(half: Half = 'unseen'): ToolResult[] {
  const random = createRandom(half === 'tuning' ? 31 : 1031);
  const day = (): string => `2026-0${random.integer(1, 9)}-${random.integer(10, 28)}`;
  const sentence = (): string => texts.prose(random, half, 60);
  const list = <T>(least: number, most: number, make: (index: number) => T): T[] =>
    Array.from({ length: random.integer(least, most) }, (_, index) => make(index));
  return [
    {
      name: 'a table of numbers',
      value: list(12, 20, (minute) => ({
        minute,
        requests: random.integer(8000, 22_000),
        errors: random.integer(0, 900),
        p50_ms: random.integer(20, 90),
        p99_ms: decimal(random, 100, 4000),
      })),
    },
    {
      name: 'a list of records, one in four incomplete',
      value: {
        total: 10,
        users: list(10, 10, (index) => ({
          id: 4100 + index,
          name: random.pick(PEOPLE),
          email: `user${random.integer(100, 999)}@example.com`,
          role: random.pick(['admin', 'editor', 'viewer']),
          ...(random.next() < 0.75 ? { last_login: day() } : {}),
          active: random.next() < 0.8,
        })),
      },
    },
    {
      name: 'orders with customers and items',
      value: {
        page: 1,
        orders: list(6, 8, (index) => ({
          id: `ord_${5520 + index}`,
          created: day(),
          status: random.pick(['paid', 'shipped', 'refunded']),
          customer: { name: random.pick(PEOPLE), city: random.pick(CITIES), vip: random.next() < 0.3 },
          items: list(1, 3, () => ({
            sku: `SKU-${random.integer(100, 999)}`,
            title: random.pick(PRODUCTS),
            quantity: random.integer(1, 5),
            price: decimal(random, 5, 300),
          })),
          currency: 'EUR',
        })),
      },
    },
    {
      name: 'lines of a log',
      value: list(15, 20, () => ({
        time: `${day()}T${random.integer(10, 23)}:${random.integer(10, 59)}:${random.integer(10, 59)}Z`,
        level: random.pick(['info', 'info', 'warn', 'error']),
        service: random.pick(SERVICES),
        message: sentence(),
      })),
    },
    {
      name: 'search results with texts',
      value: list(5, 6, (index) => ({
        rank: index + 1,
        title: sentence(),
        url: `https://docs.example.com/${random.pick(SERVICES)}/${random.integer(100, 999)}`,
        tags: random.sample(['guide', 'api', 'billing', 'faq', 'release'], 2),
        snippet: texts.prose(random, half, 180),
      })),
    },
    {
      name: 'a nested configuration',
      value: {
        name: 'checkout',
        version: '2.14.0',
        replicas: random.integer(2, 12),
        resources: { cpu: '500m', memory: '512Mi' },
        database: {
          host: 'db.internal',
          port: 5432,
          pool: { min: 2, max: random.integer(20, 80), idle_ms: 30_000 },
          replicas: ['db-1.internal', 'db-2.internal'],
        },
        features: Object.fromEntries(
          ['wallet', 'coupons', 'gift_cards', 'express'].map((name) => [
            name,
            { enabled: random.next() < 0.5, rollout: random.integer(0, 100) },
          ]),
        ),
        alerts: { channel: '#checkout', quiet_hours: null, owner: random.pick(PEOPLE) },
      },
    },
    {
      name: 'one record with a long text',
      value: {
        ticket: random.integer(40_000, 49_999),
        status: 'open',
        requester: random.pick(PEOPLE),
        opened: day(),
        subject: sentence(),
        body: [0, 1, 2].map(() => texts.prose(random, half, 200)).join('\n\n'),
        attachments: [],
      },
    },
  ];
}

function decimal(random: Random, min: number, max: number): number {
  return random.integer(10 * min, 10 * max) / 10;
}
