/** Facts that an instruction does not state: times that become stale in the registry, constants of rules, values that a model adds. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bundledRules,
  createFallbackEncoder,
  type FallbackEncoder,
  type FallbackOptions,
  loadRules,
  memoryRegistry,
  type Registry,
  sqliteRegistry,
} from '../../../src/aacp/fallback/index.js';
import { explainPacket } from '../../../src/aacp/index.js';
import { goodReply, type ScriptedModel, scriptedModel } from '../../helpers/fallback.js';
import { runs } from '../../helpers/runs.js';
import { freshFiles } from '../../storage/folder.js';

const HR = { domain: 'HR' } as const;
const START = Date.UTC(2026, 10, 25, 7, 30);
const DAY = 86_400_000;
/** 17 months later. */
const LATER = Date.UTC(2028, 3, 12, 7, 30);
const fresh = freshFiles();

interface Scene extends ScriptedModel {
  readonly encoder: FallbackEncoder;
  readonly setNow: (time: number) => void;
}

/** An encoder whose model writes these fields for any instruction; the registry has its own clock. */
function scene(fields: () => string, options: FallbackOptions = {}): Scene {
  let now = START;
  const scripted = scriptedModel((request) => goodReply(request, fields()));
  const encoder = createFallbackEncoder({
    model: scripted.model,
    rules: null,
    registry: memoryRegistry(),
    now: () => now,
    ...options,
  });
  const setNow = (time: number): void => {
    now = time;
  };
  return { ...scripted, encoder, setNow };
}

/** Instructions, and the fields that a model derived on 25 November 2026. */
const WORKED_OUT: readonly (readonly [instruction: string, fields: string])[] = [
  ['Remind me about the renewal in 3 months', 'res:renewal|period:2027-02'],
  ['Fetch the sales year to date', 'res:sales|period:2026'],
  ['Fetch the sales YTD', 'res:sales|filter:from=2026-01-01,to=2026-11-25'],
  ['Run the month-end close', 'res:close|period:2026-11'],
  ['Run the year-end close', 'res:close|period:2026-12-31'],
  ['Fetch the stock as of now', 'res:stock|period:2026-11-25T07:30:00Z'],
  ['Fetch the stock right now', 'res:stock|filter:at=07:30'],
  ['Report the quarter to date', 'res:report|period:2026-Q4'],
  ['Report the QTD figures', 'res:report|period:Q4-2026'],
  ['Report the MTD figures', 'res:report|period:2026-11'],
  ['Fetch the rota for a fortnight from here', 'res:rota|filter:until=2026-12-09'],
  ['Book leave for Christmas', 'res:leave|period:2026-12-25'],
  ['Book leave over Easter', 'res:leave|period:2027-03-28'],
  ['Book the room for the day after tomorrow', 'res:room|filter:date=2026-11-27'],
  ['Fetch what came in the other day', 'res:mail|filter:date=2026-11-24'],
  ['Plan the summer rota', 'res:rota|period:2027-06'],
  ['Plan the winter rota', 'res:rota|period:winter_2026'],
  ['Fetch the budget of the running year', 'res:budget|period:2026'],
  ['Fetch the budget of the current FY', 'res:budget|period:FY26'],
  ['Fetch the budget of the coming FY', 'res:budget|period:FY2027'],
  ['Fetch the budget of last fiscal year', 'res:budget|period:FY2025/26'],
  ['Fetch the payroll of the month before last', 'res:payroll|period:2026-09'],
  ['Fetch the payroll of two months ago', 'res:payroll|period:2026-09'],
  ['Fetch the sales of the trailing twelve months', 'res:sales|filter:from=2025-11,to=2026-10'],
  ['Fetch the sales of the past year and a half', 'res:sales|filter:since=2025-05-25'],
  ['Fetch the sales since New Year', 'res:sales|filter:since=2026-01-01'],
  ['Fetch the logins within the last 48 hours', 'res:logins|filter:since=2026-11-23T07:30'],
  ['Fetch the logins of the last hour', 'res:logins|filter:since=06:30'],
  ['Fetch the logins this very minute', 'res:logins|filter:at=1795591800'],
  ['Fetch the overnight batch', 'res:batch|filter:date=2026-11-24'],
  ['Fetch the latest payroll', 'res:payroll|period:2026-10'],
  ['Fetch the most recent close', 'res:close|period:2026-10-31'],
  ['Fetch the upcoming birthdays', 'res:birthdays|period:2026-12'],
  ['Fetch the next three paydays', 'res:paydays|filter:from=2026-11-30'],
  ['Send the report by close of business', 'res:report|filter:due=2026-11-25'],
  ['Send the report by the end of the week', 'res:report|filter:due=2026-11-27'],
  ['Send the report by Friday', 'res:report|filter:due=2026-11-27'],
  ['Send the report on Monday week', 'res:report|filter:due=2026-12-07'],
  ['Send the report a week on Tuesday', 'res:report|filter:due=01/12/2026'],
  ['Send the report by mid December', 'res:report|filter:due=2026-12-15'],
  ['Send the report before the holidays', 'res:report|filter:due=2026-12-23'],
  ['Send the report within 5 working days', 'res:report|filter:due=2026-12-02'],
  ['Send the report in ten days', 'res:report|filter:due=2026-12-05'],
  ['Send the report in half a year', 'res:report|filter:due=2027-05-25'],
  ['Send the report half-yearly from here', 'res:report|period:2026-H2'],
  ['Send the report next time the month turns', 'res:report|period:2026-12-01'],
  ['Send the report on the 5th', 'res:report|filter:due=2026-12-05'],
  ['Send the report on 5 March', 'res:report|filter:due=2027-03-05'],
  ['Send the report for Q2', 'res:report|period:2027-Q2'],
  ['Send the report for March', 'res:report|period:2027-03'],
  ['Send the report for week 12', 'res:report|period:2027-W12'],
  ['Send the report for H1', 'res:report|period:H1-2027'],
  ['Flag the invoices that are due', 'res:invoices|filter:due<=2026-11-25'],
  ['Flag the invoices that are overdue', 'res:invoices|filter:due<25.11.2026'],
  ['Flag contracts that expire soon', 'res:contracts|filter:expires<20261225'],
  ['Flag certificates that have expired', 'res:certificates|filter:expires<2026/11/25'],
  ['Flag probations that end shortly', 'res:probations|filter:end=Dec-2026'],
  ['Flag staff who joined recently', 'res:staff|filter:since=Nov_2026'],
  ['Flag staff with birthdays', 'res:staff|filter:month=11'],
  ['Flag staff who are away', 'res:staff|filter:day=wednesday'],
  ['Log the visit', 'res:visit|filter:date=2026-11-25'],
  ['Log the visit as done', 'res:visit|status:done|filter:at=2026-11-25T07:30:00.000Z'],
  ['Log the visit with a stamp', 'res:visit|filter:stamp=1795591800000'],
  ['Open the books anew', 'res:books|period:FY27'],
  ['Archive the old records', 'res:records|filter:before=2019-11-25'],
  ['Archive what is older than seven years', 'res:records|filter:before=2019'],
  ['Archive the minutes of the previous meeting', 'res:minutes|filter:date=18-11-2026'],
  ['Renew the licence for another year', 'res:licence|filter:until=2027-11-25'],
  ['Schedule the audit', 'res:audit|period:2026-12'],
  ['Schedule the audit as usual', 'res:audit|period:december'],
  ['Schedule the audit for the turn of the year', 'res:audit|period:2026-12-31/2027-01-01'],
  ['Schedule the backup tonight', 'res:backup|filter:at=2026-11-25T22:00'],
  ['Schedule the backup at noon', 'res:backup|filter:at=2026-11-25T12:00'],
  ['Schedule the backup every day from here on', 'res:backup|filter:start=2026-11-25'],
  ['Name the file after the day', 'res:file|subj:report_2026-11-25'],
  ['Name the file after the month', 'res:file|subj:report_november'],
  ['Name the file by week', 'res:file|subj:report_2026W48'],
  ['Number the invoice', 'res:invoice|filter:inv=INV-2026-0041'],
  ['Attach the last report', 'res:report|att:rpt://payroll/2026-10:pdf'],
  ['Compare with the same time a year ago', 'res:sales|src_prev:gl://close/2025-11'],
  ['Fetch the rates of the hour', 'res:rates|filter:hour=0700'],
  ['Fetch the forecast through the rest of the week', 'res:forecast|filter:from=2026-11-25,to=2026-11-29'],
  ['Fetch the actuals to date', 'res:actuals|filter:to=25-Nov-2026'],
  ['Fetch the figures for the season', 'res:figures|period:autumn'],
  ['Fetch the figures for the period', 'res:figures|period:month_end'],
  ['R\u00e9sum\u00e9 du mois pr\u00e9c\u00e9dent', 'res:summary|period:2026-10'],
  ['Bericht f\u00fcr gestern', 'res:report|period:2026-11-24'],
];

/** Instructions whose packets are always valid. */
const STATED: readonly (readonly [instruction: string, fields: string])[] = [
  ['Fetch the payroll for August 2024', 'res:payroll|period:2024-08'],
  ['Fetch the payroll for 2024-08', 'res:payroll|period:2024-08'],
  ['Fetch the payroll for August 2024 by day', 'res:payroll|filter:from=2024-08-01,to=2024-08-31'],
  ['Fetch the sales of Q3 2024', 'res:sales|period:2024-Q3'],
  ['Fetch the sales of Q3 2024 by day', 'res:sales|filter:from=2024-07-01,to=2024-09-30T23:59:59Z'],
  ['Fetch the sales of FY24', 'res:sales|period:FY24'],
  ['Fetch the sales of 2024', 'res:sales|filter:from=2024-01-01,to=2024-12-31'],
  ['Fetch the sales of week 2 of 2026', 'res:sales|filter:from=2026-01-05,to=2026-01-11'],
  ['Send the report on 31 August 2024 at 09:00', 'res:report|filter:due=2024-08-31T09:00'],
  ['Send the report by month_end', 'res:report|period:month_end'],
  ['Send the report on Friday as it is', 'res:report|filter:day=friday'],
  ['Flag invoices more than 30 days overdue', 'res:invoices|filter:days_overdue>30'],
  ['Give Jo Webb a Microsoft 365 licence', 'res:licence|filter:usr=j.webb|fields:m365'],
  ['Pay \u00a34.2k to ABC Ltd on net 30 terms', 'res:payment|amt:4200|ccy:GBP|sup:ABC-Ltd|terms:net30'],
  ['Chase the late timesheets in 3 months', 'res:timesheets'],
  ['Chase the late timesheets as of now', 'res:timesheets|flags:late'],
];

const REGISTRIES: readonly (readonly [string, () => Promise<Registry>, (registry: Registry) => Promise<Registry>])[] = [
  ['in memory', async () => memoryRegistry(), async (registry) => registry],
  [
    'in a file that is opened anew',
    async () => sqliteRegistry(fresh()),
    async (registry) => {
      registry.close();
      return sqliteRegistry(registry.file!);
    },
  ],
];

describe.each(REGISTRIES)('a time that a model derived, with a registry %s', (_name, open, again) => {
  test('is used on its day only, with any wording', async () => {
    const registry = await open();
    const wrong: string[] = [];
    const asked: string[] = [];
    for (const [instruction, fields] of WORKED_OUT) {
      const { encoder, calls, setNow } = scene(() => fields, { registry, patterns: false });
      await encoder.encode(instruction, HR);
      setNow(START + DAY / 2);
      if ((await encoder.encode(instruction, HR)).tier !== 'cache' || calls.length !== 1) asked.push(instruction);
    }
    const later = await again(registry);
    for (const [instruction, fields] of WORKED_OUT) {
      const { encoder, setNow } = scene(() => fields, { registry: later });
      setNow(LATER);
      if ((await encoder.explain(instruction, HR)).tier !== 'none') wrong.push(instruction);
    }
    later.close();
    expect([WORKED_OUT.length >= 80, wrong, asked]).toEqual([true, [], []]);
  });

  test('is used without limit if the instruction states it, or if there is no time', async () => {
    const registry = await open();
    for (const [instruction, fields] of STATED) await scene(() => fields, { registry }).encoder.encode(instruction, HR);
    const later = await again(registry);
    const asked: string[] = [];
    for (const [instruction, fields] of STATED) {
      const { encoder, setNow } = scene(() => fields, { registry: later });
      setNow(LATER);
      if ((await encoder.explain(instruction, HR)).tier === 'none') asked.push(instruction);
    }
    later.close();
    expect(asked).toEqual([]);
  });
});

describe('an entry that is valid for a day', () => {
  test('is replaced on the next one, once, and then valid for that', async () => {
    let period = '2027-02';
    const { encoder, calls, setNow } = scene(() => `res:renewal|period:${period}`);
    const ask = (): Promise<readonly [string, string]> =>
      encoder
        .encode('Remind me about the renewal in 3 months', HR)
        .then(({ tier, packet }) => [tier, packet.split('period:')[1]!]);
    expect(await ask()).toEqual(['model', '2027-02']);
    setNow(LATER);
    period = '2028-07';
    const answers = await Promise.all(Array.from({ length: 8 }, ask));
    expect(new Set(answers.map(([, shown]) => shown))).toEqual(new Set(['2028-07']));
    expect(answers.filter(([tier]) => tier === 'model').length).toBe(1);
    expect([await ask(), calls.length]).toEqual([['cache', '2028-07'], 2]);
  });

  test('is not a pattern for another instruction on another day', async () => {
    const { encoder, setNow } = scene(() => 'res:renewal|filter:id=C-441|period:2027-02');
    await encoder.encode('Remind me about the renewal of contract C-441 in 3 months', HR);
    setNow(LATER);
    const other = await encoder.explain('Remind me about the renewal of contract C-442 in 3 months', HR);
    expect([other.tier, other.candidates[0]?.refusal]).toEqual(['none', 'slot-unplaced']);
  });

  test('of any date is never used on another day (property)', async () => {
    const date = fc.date({ min: new Date(0), max: new Date(Date.UTC(2099, 0, 1)), noInvalidDate: true });
    const shapes: readonly ((iso: string) => string)[] = [
      (iso) => iso.slice(0, 10),
      (iso) => iso.slice(0, 7),
      (iso) => iso.slice(0, 10).replaceAll('-', ''),
      (iso) => iso.slice(0, 10).split('-').reverse().join('/'),
      (iso) => iso,
      (iso) => `q_${iso.slice(0, 4)}`,
      (iso) => String(Date.parse(iso)),
    ];
    await fc.assert(
      fc.asyncProperty(
        date,
        fc.constantFrom(...shapes),
        fc.constantFrom('period', 'subj', 'filter', 'tmpl', 'x_due'),
        fc.integer({ min: 1, max: 2000 }),
        async (at, shape, key, days) => {
          const shown = shape(at.toISOString());
          const { encoder, setNow } = scene(() => `res:x|${key}:${key === 'filter' ? `due=${shown}` : shown}`);
          await encoder.encode('Do it when it is time', HR);
          setNow(START + days * DAY);
          expect((await encoder.explain('Do it when it is time', HR)).tier).toBe('none');
        },
      ),
      runs(60),
    );
  });

  test('is derived from the day in the prompt', async () => {
    const { encoder, calls } = scene(() => 'res:renewal');
    await encoder.encode('Remind me about the renewal in 3 months', HR);
    expect(calls[0]?.prompt).toContain('Today is 2026-11-25');
  });
});

/** Values that a model adds, each with the instruction. */
const ADDED: readonly (readonly [kind: string, instruction: string, fields: string, value: string])[] = [
  ['an amount', 'Pay ABC Ltd', 'res:payment|amt:4200|sup:ABC-Ltd', '4200'],
  ['another amount', 'Pay ABC Ltd \u00a3420', 'res:payment|amt:4200|ccy:GBP|sup:ABC-Ltd', '4200'],
  ['a currency', 'Pay ABC Ltd 420', 'res:payment|amt:420|ccy:GBP|sup:ABC-Ltd', 'GBP'],
  ['another currency', 'Pay ABC Ltd \u20ac420', 'res:payment|amt:420|ccy:GBP|sup:ABC-Ltd', 'GBP'],
  ['a date', 'Pay ABC Ltd', 'res:payment|sup:ABC-Ltd|filter:due=2026-12-01', '2026-12-01'],
  ['an id', 'Match the invoice', 'res:invoice|match:PO-441', 'PO-441'],
  ['an id in a filter', 'Fetch the lead', 'res:lead|filter:id=L-7712', 'L-7712'],
  ['a version', 'Run the payroll', 'res:payroll|rules:payroll_v2', 'payroll_v2'],
  ['a company', 'Pay the bill', 'res:payment|sup:Contoso-Ltd', 'Contoso-Ltd'],
  ['another company', 'Pay ABC Ltd', 'res:payment|sup:ABX-Ltd', 'ABX-Ltd'],
  ['an agent', 'Log the run', 'res:run|actor:HR-Agent', 'HR-Agent'],
  ['an audit trail', 'Log the run', 'res:run|chain:HRMS,PAY', 'HRMS'],
  ['a recipient', 'Send the report', 'res:report|to:fin_director', 'fin_director'],
  ['a person', 'Close the account of John Smith', 'res:account|filter:usr=j.smithson', 'j.smithson'],
  ['an address', 'Write to John Smith', 'res:mail|to:john.smith@contoso.example', 'john.smith@contoso.example'],
  ['a place elsewhere', 'Fetch the file', 'res:file|data_ptr:s3://bucket/file', 's3://bucket/file'],
];

describe('a value that a model adds', () => {
  test.each(ADDED)('is a warning, from the registry too: %s', async (_kind, instruction, fields, value) => {
    const { encoder } = scene(() => fields);
    for (const tier of ['model', 'cache']) {
      const result = await encoder.encode(instruction, HR);
      const found = result.warnings.filter(({ code }) => code === 'unstated-value').map(({ message }) => message);
      expect([result.tier, found.some((message) => message.includes(JSON.stringify(value)))]).toEqual([tier, true]);
    }
  });

  test.each(ADDED)('is rejected with `strict`, and nothing is stored: %s', async (_kind, instruction, fields) => {
    const registry = memoryRegistry();
    await scene(() => fields, { registry }).encoder.encode(instruction, HR);
    const before = registry.statistics().entries;
    const { encoder, calls } = scene(() => fields, { registry, strict: true });
    await expect(encoder.encode(instruction, HR)).rejects.toMatchObject({
      code: 'unstated-value',
      usage: { calls: 2 },
      replies: [expect.any(String), expect.any(String)],
    });
    expect([calls.length, calls[1]?.repair?.prompt.includes('unstated-value')]).toEqual([2, true]);
    expect(registry.statistics().entries).toBe(before);
  });

  test('is removed when the model is asked to', async () => {
    const replies = ['res:payment|amt:4200', 'res:payment'];
    const { encoder } = scene(() => replies.shift()!, { strict: true });
    const result = await encoder.encode('Pay the bill', HR);
    expect([result.packet.includes('amt'), result.usage.calls, result.warnings]).toEqual([false, 2, []]);
  });

  test.each(STATED)('is not reported if the instruction states it: %s', async (instruction, fields) => {
    const { encoder } = scene(() => fields, { strict: true });
    expect((await encoder.encode(instruction, HR)).warnings.map(({ code }) => code)).not.toContain('unstated-value');
  });
});

describe('a rule', () => {
  const VOUCHED = /\|(?:actor|chain|req|rules):([^|]*)/g;

  test('of pegwire adds no actor, chain, requirements or rules that the instruction does not state', async () => {
    const samples: Readonly<Record<string, string>> = {
      ...{ period: 'August 2026', quarter: 'Q3 2026', date: '31 August 2026', id: 'A-4711', amount: '\u00a34,200' },
      ...{ name: 'Contoso Ltd', number: '45', list: 'Slack, VPN and Jira', text: 'engineer', email: 'a@example.org' },
    };
    const encoder = createFallbackEncoder({ registry: null });
    const invented: string[] = [];
    for (const { domain, phrases } of bundledRules().rules) {
      for (const phrase of phrases) {
        const text = phrase.replace(/\{(\w+)(?::(\w+))?\}/g, (_, name, kind = name) => samples[kind]!);
        const answer = await encoder.encode(text, { domain }).catch(() => null);
        for (const [, value] of answer?.packet.matchAll(VOUCHED) ?? []) {
          const stems = value!
            .replace(/^\w+=/, '')
            .toLowerCase()
            .match(/[a-z]+/g)!
            .map((word) => word.slice(0, 4));
          if (!stems.every((stem) => text.toLowerCase().includes(stem))) invented.push(`${text}: ${value}`);
        }
      }
    }
    expect(invented).toEqual([]);
  });

  test('with such constants does not match, and the explanation names the reason', async () => {
    const { rules } = loadRules([
      {
        ...{ id: 'log-run', name: 'Log a run', description: 'Logs a run.', task: 'LOG', dom: 'HR', tags: [] },
        ...{ version: '1.0.0', source: 'test', phrases: ['log the payroll run for {period}'] },
        packet: 'LOG|HR|return:AUD-Agent|p:2|aacp:1.1|period:{period}|actor:HR-Agent|chain:HRMS,FIN',
      },
    ]);
    const encoder = createFallbackEncoder({ rules, registry: null });
    const { tier, candidates } = await encoder.explain('Log the payroll run for May 2027', HR);
    expect([tier, candidates[0]?.refusal]).toEqual(['none', 'invented-fact']);
    expect(candidates[0]?.reason).toContain('actor "HR-Agent"');
  });

  test.each(['actor:HR-Agent', 'chain:HRMS,FIN', 'req:dual_approval', 'rules:payroll_v2'])(
    'of an earlier instruction gives %s to no instruction that does not state it',
    async (constant) => {
      const { encoder, calls } = scene(() => `res:run|period:${calls.length > 1 ? '2027-06' : '2027-05'}|${constant}`);
      await encoder.encode('Log the payroll run for May 2027', HR);
      const other = 'Log the payroll run for June 2027';
      const { tier, candidates } = await encoder.explain(other, HR);
      expect([tier, candidates[0]?.refusal]).toEqual(['none', 'invented-fact']);
      expect((await encoder.encode(other, HR)).tier).toBe('model');
      // The same instruction with all that its packet contains matches the next one.
      const stated = `Log the payroll run for May 2028 with ${constant.replace(/[:,]/g, ' ')}`;
      const next = scene(() => `res:run|period:2028-05|${constant}`);
      await next.encoder.encode(stated, HR);
      expect((await next.encoder.explain(stated.replace('May', 'June'), HR)).tier).toBe('pattern');
    },
  );

  test('is explained with placeholders, never with its samples', async () => {
    const encoder = createFallbackEncoder({ registry: null });
    const shown: string[] = [];
    for (const { domain, phrases } of bundledRules().rules) {
      for (const phrase of phrases) {
        for (const text of [phrase.replace(/\{.*?\}/g, 'it'), phrase.replace(/ ?\{.*?\}/g, '')]) {
          shown.push(JSON.stringify((await encoder.explain(text, { domain })).candidates.map(withoutSource)));
        }
      }
    }
    const all = shown.join('\n');
    expect(all.match(/.{20}(?:1987|zquorl|xanthy|19873).{20}/i)).toBe(null);
    expect(all).toContain('{month}');
  });
});

function withoutSource({
  reason,
  shared,
  extra,
  missing,
  slots,
}: Awaited<ReturnType<FallbackEncoder['explain']>>['candidates'][0]) {
  return { reason, shared, extra, missing, slots };
}

test('a packet with status:error is explained as failed', () => {
  const text = explainPacket('LOG|HR|return:AUD-Agent|p:2|aacp:1.1|status:error');
  expect(text).toContain('Status: failed.');
  expect(text).not.toMatch(/complete/i);
});
