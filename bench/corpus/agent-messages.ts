/** Messages of five conversations between agents, made from seeds: some have the types of `messages.json`, others their own. */
import type { JsonObject } from '../../src/accp/codec/index.js';
import type { Half } from '../../src/bench/corpus/texts.js';
import * as texts from '../../src/bench/corpus/texts.js';
import { createRandom, type Random } from '../../src/text/random.js';

export interface AgentMessage {
  /** The first character is the conversation. */
  readonly id: string;
  readonly kind: string;
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  readonly schema?: string;
  readonly payload: JsonObject;
  /** The position of the request in its conversation that the message answers, or a name that the chunks of a stream share. */
  readonly answers?: number | string;
}

type Draft = Omit<AgentMessage, 'id'>;

/** The names and values that a half has alone; enumerations are the same in both. */
interface Source {
  readonly random: Random;
  readonly half: Half;
  person(): string;
  name(): string;
  day(): string;
  time(): string;
  money(): number;
  code(prefix: string): string;
  prose(length: number): string;
  list<T>(least: number, most: number, make: (index: number) => T): T[];
}

const PEOPLE: Readonly<Record<Half, readonly string[]>> = {
  tuning: ['Ann Lee', 'Bo Ek', 'Carla Diaz', 'Deng Wei', 'Eva Novak', 'Farid Amin'],
  unseen: ['Greta Holm', 'Hugo Blanc', 'Ines Rocha', 'Jonas Berg', 'Kavya Rao', 'Liam Burke'],
};

const NAMES: Readonly<Record<Half, readonly string[]>> = {
  tuning: ['ledger', 'gateway', 'mailer', 'ranking', 'thumbnails', 'webhooks'],
  unseen: ['billing', 'search', 'exports', 'sessions', 'catalog', 'notifier'],
};

/**
 * Returns the messages of one round, as many in each. The half `tuning` is for learning registries; figures are of `unseen`, with which no
 * spelling was chosen.
 */
export function agentMessages(half: Half, round: number): AgentMessage[] {
  const source = sourceOf(createRandom((half === 'tuning' ? 41 : 1041) + 7 * round), half);
  return CONVERSATIONS.flatMap((make, index) =>
    make(source).map((draft, position) => ({
      id: `${'FGHIJ'[index]}${String(position + 1).padStart(2, '0')}`,
      ...draft,
    })),
  );
}

function sourceOf(random: Random, half: Half): Source {
  const two = (least: number, most: number): string => String(random.integer(least, most)).padStart(2, '0');
  const day = (): string => `2026-${two(1, 12)}-${two(1, 28)}`;
  return {
    random,
    half,
    day,
    person: () => random.pick(PEOPLE[half]),
    name: () => random.pick(NAMES[half]),
    time: () => `${day()}T${two(0, 23)}:${two(0, 59)}:${two(0, 59)}Z`,
    money: () => random.integer(500, 250_000) / 100,
    code: (prefix) => `${prefix}${random.integer(1000, 99_999)}`,
    // The texts have few sentences, which would recur.
    prose: (length) => cut(shuffled(random, texts.prose(random, half, length)), length),
    list: (least, most, make) => Array.from({ length: random.integer(least, most) }, (_, index) => make(index)),
  };
}

/** Returns a text with its plain words in another order; capitals, numbers and punctuation keep their places. */
export function shuffled(random: Random, text: string): string {
  const words = text.split(' ');
  const plain = words.filter((word) => PLAIN.test(word));
  const others = random.sample(plain, plain.length);
  return words.map((word) => (PLAIN.test(word) ? others.pop()! : word)).join(' ');
}

/** Returns the words of a text that fit into a length. */
function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, text.lastIndexOf(' ', length)).replace(/[^a-z0-9]+$/, '');
}

const PLAIN = /^[a-z]+$/;

const CONVERSATIONS: readonly ((source: Source) => Draft[])[] = [support, development, commerce, analysis, office];

function support({ random, person, code, time, prose, list, day }: Source): Draft[] {
  const ticket = code('TCK-');
  const priority = random.pick(['low', 'normal', 'high', 'urgent']);
  return [
    {
      ...{ kind: 'mail', agent: 'inbox', intent: 'sync', operation: 'mail' },
      payload: {
        from: `${code('customer')}@example.com`,
        to: ['support@example.com'],
        subject: prose(30),
        received: time(),
        body: prose(260),
        attachments: list(0, 2, () => ({ name: `${code('scan_')}.pdf`, bytes: random.integer(9000, 900_000) })),
      },
    },
    {
      ...{ kind: 'task request', agent: 'router', intent: 'req', operation: 'schedule', schema: 'TA' },
      payload: {
        assignee: 'support_agent',
        task: 'answer_customer',
        priority,
        deadline: day(),
        dependencies: [ticket],
      },
    },
    {
      ...{ kind: 'ack', agent: 'support_agent', intent: 'ack', operation: 'schedule', schema: 'TA', answers: 1 },
      payload: { task: 'answer_customer', status: 'accepted', owner: person(), eta: day() },
    },
    {
      ...{ kind: 'tool call', agent: 'support_agent', intent: 'req', operation: 'tool', schema: 'TC' },
      payload: {
        tool_name: 'kb_search',
        arguments: { query: prose(40), product: random.pick(['desktop', 'mobile', 'web']), max_results: 5 },
      },
    },
    {
      ...{ kind: 'tool result', agent: 'kb_tool', intent: 'done', operation: 'tool', schema: 'TC', answers: 3 },
      payload: {
        tool_name: 'kb_search',
        status: 'ok',
        result: list(3, 5, (rank) => ({
          rank: rank + 1,
          article: code('KB-'),
          title: prose(40),
          score: random.integer(300, 990) / 1000,
          excerpt: prose(110),
        })),
      },
    },
    {
      ...{ kind: 'ticket', agent: 'support_agent', intent: 'req', operation: 'ticket' },
      payload: {
        ticket,
        customer: {
          name: person(),
          plan: random.pick(['free', 'team', 'enterprise']),
          since: day(),
          open_tickets: random.integer(0, 6),
        },
        category: random.pick(['billing', 'bug', 'how_to', 'account']),
        priority,
        summary: prose(70),
        tags: random.sample(['refund', 'login', 'export', 'crash', 'invoice'], 2),
      },
    },
    {
      ...{ kind: 'chat', agent: 'support_agent', intent: 'done', operation: 'chat', schema: 'CH' },
      payload: { content: prose(300), role: 'assistant', turn: random.integer(2, 9), language: 'en' },
    },
    {
      ...{ kind: 'chat', agent: 'customer', intent: 'req', operation: 'chat', schema: 'CH' },
      payload: { content: prose(90), role: 'user', turn: random.integer(2, 9) },
    },
    {
      ...{ kind: 'delta', agent: 'support_agent', intent: 'sync', operation: 'state' },
      payload: {
        version: 0,
        delta: {
          status: random.pick(['open', 'waiting', 'solved']),
          replies: random.integer(1, 8),
          last_reply: time(),
        },
      },
    },
    {
      ...{ kind: 'error', agent: 'kb_tool', intent: 'fail', operation: 'error', schema: 'ER' },
      payload: {
        code: 'E3001',
        message: `timed out after ${random.integer(5, 60)}s`,
        retryable: true,
        source: 'kb',
        retry_count: 2,
      },
    },
  ];
}

function development({ random, half, name, code, time, prose, list }: Source): Draft[] {
  const commit = `${code('a')}f${code('c')}`.slice(0, 9);
  const service = name();
  return [
    {
      ...{ kind: 'task request', agent: 'lead', intent: 'req', operation: 'implement' },
      payload: {
        issue: random.integer(100, 9999),
        service,
        goal: prose(90),
        files: list(2, 4, () => `src/${name()}/${name()}.ts`),
        tests_required: true,
        max_changed_lines: random.integer(50, 400),
      },
    },
    {
      ...{ kind: 'tool call', agent: 'coder', intent: 'req', operation: 'tool', schema: 'TC' },
      payload: {
        tool_name: 'read_file',
        arguments: { path: `src/${service}/${name()}.ts`, from_line: random.integer(1, 300), lines: 80 },
      },
    },
    {
      ...{ kind: 'code', agent: 'files', intent: 'done', operation: 'tool', schema: 'TC', answers: 1 },
      payload: {
        tool_name: 'read_file',
        status: 'ok',
        lines: random.integer(20, 80),
        content: texts.code(random, half, 320),
      },
    },
    {
      ...{ kind: 'code', agent: 'coder', intent: 'req', operation: 'tool', schema: 'TC' },
      payload: {
        tool_name: 'edit_file',
        arguments: {
          path: `src/${service}/${name()}.ts`,
          old_text: texts.code(random, half, 80),
          new_text: texts.code(random, half, 140),
        },
      },
    },
    {
      ...{ kind: 'tool result', agent: 'ci', intent: 'done', operation: 'tool', schema: 'TC', answers: 'tests' },
      payload: {
        tool_name: 'run_tests',
        status: random.pick(['passed', 'failed']),
        suite: random.pick(['unit', 'integration']),
        passed: random.integer(100, 900),
        failed: random.integer(0, 4),
        skipped: random.integer(0, 20),
        duration_seconds: random.integer(80, 2000) / 10,
        commit,
        failures: list(2, 3, () => ({ test: prose(40), file: `test/${name()}/${name()}.test.ts`, error: prose(50) })),
      },
    },
    {
      ...{ kind: 'log', agent: 'ci', intent: 'sync', operation: 'log' },
      payload: {
        service,
        entries: list(8, 12, () => ({
          time: time(),
          level: random.pick(['info', 'info', 'warn', 'error']),
          host: `ip-10-0-${random.integer(1, 9)}-${random.integer(1, 99)}`,
          message: prose(50),
        })),
      },
    },
    {
      ...{ kind: 'deployment', agent: 'lead', intent: 'req', operation: 'deploy' },
      payload: {
        service,
        commit,
        environment: random.pick(['staging', 'production']),
        strategy: random.pick(['rolling', 'canary']),
        replicas: random.integer(2, 24),
        canary_percent: random.pick([5, 10, 25]),
        window: { start: time(), end: time() },
      },
    },
    {
      ...{ kind: 'wait', agent: 'deployer', intent: 'wait', operation: 'deploy', answers: 6 },
      payload: {
        service,
        progress: random.integer(5, 95),
        ready: random.integer(0, 24),
        eta_seconds: random.integer(20, 600),
      },
    },
    {
      ...{ kind: 'state sync', agent: 'deployer', intent: 'sync', operation: 'state' },
      payload: {
        version: 0,
        service,
        commit,
        ready_replicas: random.integer(2, 24),
        error_rate_pct: random.integer(0, 300) / 100,
        latency_p99_ms: random.integer(90, 2500),
        cpu_pct: random.integer(5, 95),
        memory_mb: random.integer(200, 4000),
        healthy: random.next() < 0.8,
      },
    },
    {
      ...{ kind: 'task done', agent: 'coder', intent: 'done', operation: 'implement', answers: 0 },
      payload: {
        status: 'complete',
        commit,
        files_changed: random.integer(1, 9),
        lines_added: random.integer(5, 300),
        lines_removed: random.integer(0, 200),
        summary: prose(120),
        follow_ups: list(1, 2, () => prose(50)),
      },
    },
  ];
}

function commerce({ random, person, money, code, day, list }: Source): Draft[] {
  const order = code('ord_');
  const transaction = code('txn_');
  const currency = random.pick(['EUR', 'USD', 'GBP']);
  const sku = (): string => code('SKU-');
  return [
    {
      ...{ kind: 'record', agent: 'shop', intent: 'req', operation: 'order' },
      payload: {
        order,
        customer: { id: code('cus_'), name: person(), country: random.pick(['DE', 'FR', 'IT', 'PL']) },
        items: list(2, 4, () => ({
          sku: sku(),
          quantity: random.integer(1, 5),
          unit_price: money(),
          gift: random.next() < 0.2,
        })),
        currency,
        shipping: random.pick(['standard', 'express', 'pickup']),
        placed: day(),
      },
    },
    {
      ...{ kind: 'query', agent: 'shop', intent: 'qry', operation: 'stock' },
      payload: { skus: list(3, 6, sku), warehouse: random.pick(['MXP1', 'BER2', 'LYS1']), reserve_minutes: 15 },
    },
    {
      ...{ kind: 'table', agent: 'warehouse', intent: 'done', operation: 'stock', answers: 1 },
      payload: {
        warehouse: random.pick(['MXP1', 'BER2', 'LYS1']),
        rows: list(5, 8, () => ({
          sku: sku(),
          on_hand: random.integer(0, 900),
          reserved: random.integer(0, 90),
          incoming: random.integer(0, 500),
          incoming_date: day(),
        })),
      },
    },
    {
      ...{ kind: 'transaction', agent: 'payments', intent: 'req', operation: 'transaction', schema: 'TX' },
      payload: {
        transaction_id: transaction,
        amount: money(),
        currency,
        account: code('acct_'),
        reference: order,
        status: random.pick(['pending', 'captured']),
        retryable: true,
      },
    },
    {
      ...{ kind: 'transaction', agent: 'payments', intent: 'req', operation: 'refund', schema: 'TX' },
      payload: {
        transaction_id: code('txn_'),
        original_transaction: code('txn_'),
        amount: money(),
        currency,
        account: code('acct_'),
        reason: random.pick(['damaged item', 'late delivery', 'wrong size']),
        status: 'pending',
        retryable: true,
      },
    },
    {
      ...{ kind: 'error', agent: 'payments', intent: 'fail', operation: 'error', schema: 'ER' },
      payload: {
        code: 'E5001',
        message: `policy denied: amount exceeds limit of ${random.integer(5, 40)}00 ${currency}`,
        retryable: false,
        transaction_id: transaction,
      },
    },
    {
      ...{ kind: 'invoice', agent: 'billing', intent: 'done', operation: 'invoice' },
      payload: {
        invoice: code('INV-'),
        order,
        issued: day(),
        due: day(),
        lines: list(2, 4, () => ({
          sku: sku(),
          quantity: random.integer(1, 5),
          net: money(),
          vat_pct: random.pick([7, 19, 22]),
        })),
        net_total: money(),
        vat_total: money(),
        gross_total: money(),
        currency,
        paid: random.next() < 0.5,
      },
    },
    {
      ...{ kind: 'record', agent: 'carrier', intent: 'sync', operation: 'shipment' },
      payload: {
        shipment: code('shp_'),
        order,
        carrier: random.pick(['DHL', 'UPS', 'GLS']),
        status: random.pick(['picked', 'in_transit', 'delivered']),
        parcels: random.integer(1, 3),
        weight_kg: random.integer(2, 300) / 10,
        eta: day(),
      },
    },
    {
      ...{ kind: 'delta', agent: 'warehouse', intent: 'sync', operation: 'state' },
      payload: { version: 0, delta: { on_hand: random.integer(0, 900), reserved: random.integer(0, 90) } },
    },
    {
      ...{ kind: 'cancel', agent: 'shop', intent: 'cancel', operation: 'transaction', schema: 'TX', answers: 3 },
      payload: { transaction_id: transaction, reason: random.pick(['customer request', 'fraud check', 'duplicate']) },
    },
  ];
}

function analysis({ random, half, time, prose, list, code }: Source): Draft[] {
  const stream = 'answer';
  const words = prose(130).split(' ');
  const chunks = [0, 1, 2, 3].map((chunk) => words.filter((_, index) => index % 4 === chunk).join(' '));
  return [
    {
      ...{ kind: 'query', agent: 'analyst', intent: 'qry', operation: 'lookup' },
      payload: {
        source: random.pick(['sales_db', 'ads_db', 'web_db']),
        query: random.pick(['visits_by_channel', 'cost_by_campaign']),
        period: `2026-Q${random.integer(1, 4)}`,
        limit: random.integer(5, 50),
        order_by: random.pick(['cost', 'visits']),
        format: 'table',
      },
    },
    {
      ...{ kind: 'table', agent: 'warehouse_db', intent: 'done', operation: 'lookup', answers: 0 },
      payload: {
        query: 'cost_by_campaign',
        period: `2026-Q${random.integer(1, 4)}`,
        rows: list(5, 8, () => ({
          campaign: random.pick(['spring_launch', 'retarget_eu', 'brand_search', 'partner_mail']),
          channel: random.pick(['search', 'social', 'mail']),
          impressions: random.integer(9000, 900_000),
          clicks: random.integer(90, 9000),
          cost: random.integer(10_000, 900_000) / 100,
          conversion_pct: random.integer(10, 900) / 100,
        })),
      },
    },
    {
      ...{ kind: 'readings', agent: 'sensor_hub', intent: 'sync', operation: 'readings' },
      payload: {
        site: random.pick(['plant_north', 'plant_south']),
        unit: 'celsius',
        readings: list(8, 12, () => ({
          sensor: `t${random.integer(1, 9)}`,
          at: time(),
          value: random.integer(150, 900) / 10,
          ok: random.next() < 0.9,
        })),
      },
    },
    {
      ...{ kind: 'series', agent: 'forecaster', intent: 'done', operation: 'forecast' },
      payload: {
        model: random.pick(['arima', 'prophet']),
        horizon_days: random.pick([7, 14]),
        values: list(7, 14, () => random.integer(1000, 9000) / 10),
        interval: { low: random.integer(500, 900), high: random.integer(1000, 2000), confidence: 0.95 },
      },
    },
    ...chunks.map(
      (data, index): Draft => ({
        ...{ kind: 'stream', agent: 'writer', intent: 'stream', operation: 'infer', schema: 'ST', answers: stream },
        payload: { chunk_index: index, total_chunks: chunks.length, data, is_final: index === chunks.length - 1 },
      }),
    ),
    {
      ...{ kind: 'bid', agent: 'bidder', intent: 'done', operation: 'bid' },
      payload: {
        task: code('task_'),
        price_usd: random.integer(1, 900) / 100,
        eta_seconds: random.integer(5, 900),
        confidence: random.integer(50, 99) / 100,
        capabilities: random.sample(['sql', 'charts', 'forecast', 'translation'], 2),
      },
    },
    {
      ...{ kind: 'task done', agent: 'analyst', intent: 'done', operation: 'summarize' },
      payload: {
        topic: random.pick(['campaign_costs', 'sensor_drift']),
        findings: list(2, 3, () => prose(70)),
        recommendation: prose(60),
        estimated_cost_usd: random.integer(100, 9000),
        sources: list(2, 3, () => texts.url(random, half, 0)),
      },
    },
    {
      ...{ kind: 'state sync', agent: 'orchestrator', intent: 'sync', operation: 'state' },
      payload: {
        version: 0,
        phase: random.pick(['planning', 'running', 'review']),
        tasks_done: random.integer(0, 20),
        tasks_open: random.integer(0, 20),
        budget_total: 500,
        budget_spent: random.integer(0, 50_000) / 100,
        last_agent: random.pick(['analyst', 'forecaster', 'writer']),
        blocked: false,
      },
    },
  ];
}

function office({ random, half, person, name, time, day, code, prose, list }: Source): Draft[] {
  return [
    {
      ...{ kind: 'record', agent: 'calendar', intent: 'req', operation: 'meeting' },
      payload: {
        title: prose(30),
        start: time(),
        end: time(),
        room: random.pick(['Oslo', 'Porto', 'Graz']),
        attendees: list(2, 4, () => ({ name: person(), required: random.next() < 0.7 })),
        agenda: list(2, 3, () => prose(40)),
      },
    },
    {
      ...{ kind: 'ack', agent: 'assistant', intent: 'ack', operation: 'meeting', answers: 0 },
      payload: { accepted: true, attendee: person() },
    },
    {
      ...{ kind: 'handoff', agent: 'assistant', intent: 'esc', operation: 'handoff' },
      payload: {
        incident: code('INC-'),
        to: random.pick(['database_oncall', 'network_oncall']),
        severity: random.pick(['sev1', 'sev2', 'sev3']),
        status: 'investigating',
        suspected_cause: prose(60),
        actions_taken: list(2, 3, () => prose(40)),
        evidence: list(1, 2, () => prose(40)),
      },
    },
    {
      ...{ kind: 'listing', agent: 'drive', intent: 'done', operation: 'list_files' },
      payload: {
        folder: `/team/${name()}/${random.integer(2020, 2026)}`,
        files: list(5, 8, () => ({
          name: `${name()}_${random.integer(1, 99)}.xlsx`,
          bytes: random.integer(9000, 9_000_000),
          modified: time(),
          owner: person(),
        })),
        truncated: false,
      },
    },
    {
      ...{ kind: 'translation', agent: 'translator', intent: 'done', operation: 'translate' },
      payload: {
        from: 'en',
        to: random.pick(['de', 'fr', 'es']),
        text: texts.foreign(random, half, 60),
        characters: random.integer(90, 300),
      },
    },
    {
      ...{ kind: 'memory', agent: 'memory', intent: 'done', operation: 'recall' },
      payload: {
        query: prose(40),
        memories: list(3, 5, () => ({
          id: code('m'),
          said: day(),
          topic: random.pick(['travel', 'budget', 'style']),
          text: prose(60),
          weight: random.integer(1, 99) / 100,
        })),
      },
    },
    {
      ...{
        kind: 'JSON in a string',
        agent: 'http_tool',
        intent: 'done',
        operation: 'tool',
        schema: 'TC',
        answers: 'http',
      },
      payload: {
        tool_name: 'http_get',
        status: 'ok',
        url: texts.url(random, half, 0),
        http_status: random.pick([200, 404, 503]),
        body: texts.json(random, half, 200),
      },
    },
    {
      ...{ kind: 'expense', agent: 'travel', intent: 'req', operation: 'approve_expense' },
      payload: {
        employee: person(),
        trip: code('trip_'),
        items: list(3, 5, () => ({
          date: day(),
          category: random.pick(['hotel', 'train', 'meal', 'taxi']),
          amount: random.integer(500, 40_000) / 100,
          receipt: random.next() < 0.8,
        })),
        currency: 'EUR',
        note: prose(50),
      },
    },
    {
      ...{ kind: 'ack', agent: 'manager', intent: 'ack', operation: 'approve_expense', answers: 7 },
      payload: {},
    },
  ];
}
