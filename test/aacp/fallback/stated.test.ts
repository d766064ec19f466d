/** Values that an instruction states in any spelling, and times that it does not state, in any field. */
import { describe, expect, test } from 'vitest';
import {
  createFallbackEncoder,
  type FallbackEncoder,
  type FallbackOptions,
  memoryRegistry,
  type Registry,
} from '../../../src/aacp/fallback/index.js';
import { goodReply } from '../../helpers/fallback.js';

const HR = { domain: 'HR' } as const;
const START = Date.UTC(2026, 10, 25, 7, 30);
/** 17 months later. */
const LATER = Date.UTC(2028, 3, 12, 7, 30);

type Row = readonly [instruction: string, fields: string];

/** An encoder whose model writes these fields for any instruction. */
function encoderAt(now: number, fields: string, registry: Registry, options: FallbackOptions = {}): FallbackEncoder {
  return createFallbackEncoder({
    ...{ registry, rules: null, now: () => now },
    model: async (request) => goodReply(request, fields),
    ...options,
  });
}

/** The rows that are answered from the registry 17 months later. */
async function servedLater(rows: readonly Row[]): Promise<readonly string[]> {
  const registry = memoryRegistry();
  const served: string[] = [];
  for (const [instruction, fields] of rows) {
    const encoder = encoderAt(START, fields, registry, { patterns: false });
    await encoder.encode(instruction, HR);
    expect([instruction, (await encoder.explain(instruction, HR)).tier]).toEqual([instruction, 'cache']);
    const { tier } = await encoderAt(LATER, fields, registry).explain(instruction, HR);
    if (tier !== 'none') served.push(`${instruction} -> ${fields}`);
  }
  return served;
}

async function warningsOf([instruction, fields]: Row): Promise<readonly string[]> {
  const { warnings } = await encoderAt(START, fields, memoryRegistry()).encode(instruction, HR);
  return warnings.filter(({ code }) => code === 'unstated-value').map(({ message }) => message);
}

/** Times in fields that are not for times, on 25 November 2026. */
const ANYWHERE: readonly Row[] = [
  ['Name the report', 'res:report|name:report_2026_11'],
  ['Name the report after today', 'res:report|name:report-v20261125'],
  ['Name the report by month', 'res:report|name:reportNov'],
  ['Flag the report of the latest quarter', 'res:report|q3_2026:yes'],
  ['Flag the report of the year', 'res:report|rev2026:yes'],
  ['Flag the report of this month', 'res:report|november:yes'],
  ['Fetch the report that is flagged', 'res:report|filter:q3_2026=yes'],
  ['Fetch the report that is flagged now', 'res:report|filter:november=yes'],
  ['Count the days to Christmas', 'res:count|n:thirty'],
  ['Count the days to the new year', 'res:count|note:thirty_seven_left'],
  ['Name the report by weekday', 'res:report|name:wednesdayreport'],
  ['Name the report by week', 'res:report|tmpl:week48'],
  ['Name the report by day', 'res:report|tmpl:d329'],
  ['Name the report by quarter', 'res:report|tmpl:Q4report'],
  ['Version the rules', 'res:rules|rules:v2026'],
  ['Version the tax rules', 'res:rules|rules:tax26'],
  ['Version the file', 'res:file|name:report_v26.11'],
  ['Settle on net 30 terms from here', 'res:invoice|terms:net30_from_2026-11-25'],
  ['Settle on terms', 'res:invoice|terms:due2026-12-15'],
  ['Settle on the usual terms', 'res:invoice|terms:net30_eom_november'],
  ['Settle what is left', 'res:invoice|terms:net36'],
  ['Export it', 'res:file|fmt:csv_2026_11'],
  ['Export it as a file', 'res:file|fmt:report_nov26.pdf'],
  ['Export it by year', 'res:file|fmt:csv2026'],
  ['Join the programme', 'res:member|prog:q4_2026'],
  ['Join the programme of the year', 'res:member|prog:2026'],
  ['Join the programme of the season', 'res:member|prog:winter26'],
  ['Join the programme of the quarter', 'res:member|prog:26Q4'],
  ['Bill the supplier of the year', 'res:bill|sup:ACME2026'],
  ['Bill the supplier of the month', 'res:bill|sup:Contoso-Nov'],
  ['Bericht f\u00fcr den n\u00e4chsten Monat', 'res:report|subj:bericht_dezember'],
  ['Rapport du mois prochain', 'res:report|subj:rapport_d\u00e9cembre'],
  ['Name the report in full width', 'res:report|subj:report_\uff12\uff10\uff12\uff16'],
  ['Name the report in Arabic', 'res:report|period:\u0662\u0660\u0662\u0666'],
  ['Pay the wages up to now', 'res:wages|amt:2083.33'],
  ['Value the customer', 'res:customer|ltv:1214'],
];

/** Wordings that depend on the day, with the fields that a model writes on 25 November 2026. */
const DEPENDENT: readonly Row[] = [
  ['Close the books at month-end', 'res:books|filter:on=2026-11-30'],
  ['Close the books by month end', 'res:books|subj:close_november'],
  ['Remind the team in three months', 'res:reminder|filter:on=2027-02-25'],
  ['Report revenue year to date', 'res:revenue|filter:from=2026-01-01,to=2026-11-25'],
  ['Report revenue year-to-date by region', 'res:revenue|period:2026-01..2026-11'],
  ['Report revenue of the fiscal quarter', 'res:revenue|period:FY26-Q4'],
  ['Report revenue of our third fiscal quarter', 'res:revenue|period:FY2026-Q3'],
  ['Plan the next fortnight', 'res:plan|filter:until=2026-12-09'],
  ['Plan a fortnight ahead', 'res:plan|period:2026-W50'],
  ['Ship the order by Friday', 'res:order|filter:due=2026-11-27'],
  ['Ship the order by Friday at 5 pm', 'res:order|filter:due=2026-11-27T17:00'],
  ['Ship the order this side of Christmas', 'res:order|filter:due=2026-12-24'],
  ['Pay the bonus on the next payday', 'res:bonus|filter:on=2026-11-30'],
  ['Pay the bonus with next payroll', 'res:bonus|period:2026-12'],
  ['Count the stock as of today', 'res:stock|filter:as_of=25 Nov'],
  ['Count the stock as at close', 'res:stock|filter:date=25.11.26'],
  ['Invoice the client on the 15th', 'res:invoice|filter:on=2026-12-15'],
  ['Invoice the client on the fifteenth', 'res:invoice|filter:on=15/12/2026'],
  ['Invoice the client on the 1st and the 15th', 'res:invoice|filter:on=2026-12-01,until=2026-12-15'],
  ['Invoice the client on the last working day', 'res:invoice|filter:on=2026-11-30'],
  ['Meet every Tuesday', 'res:meeting|filter:first=2026-12-01'],
  ['Meet on Thanksgiving', 'res:meeting|filter:on=2026-11-26'],
  ['Meet after Labor Day', 'res:meeting|filter:after=2027-09-06'],
  ['Meet on Boxing Day', 'res:meeting|filter:on=dec26'],
  ['Meet around noon', 'res:meeting|filter:at=2026-11-25T12:00'],
  ['Bericht bis Freitag', 'res:report|filter:due=2026-11-27'],
  ['Bericht bis zum 15.', 'res:report|filter:due=2026-12-15'],
  ['Lohnabrechnung des Vormonats', 'res:payroll|period:2026-10'],
  ['Facturas del mes pasado', 'res:invoices|period:2026-10'],
  ["Ventes depuis le d\u00e9but de l'ann\u00e9e", 'res:sales|filter:since=2026-01-01'],
  ['Relatorio de ontem', 'res:report|subj:2026_11_24'],
  ['Fatture entro fine mese', 'res:invoices|filter:due=2026-11-30'],
  ['\u5148\u6708\u306e\u7d66\u4e0e', 'res:payroll|period:2026-10'],
  ['Run the backup tonight', 'res:backup|filter:at=22:00'],
  ['Run the backup tonight at ten', 'res:backup|filter:at=2026-11-25T22:00'],
  ['Run the backup asap', 'res:backup|filter:at=07:31'],
  ['Run the backup ASAP', 'res:backup|filter:at=2026-11-25'],
  ['Run the backup at once', 'res:backup|filter:ts=1795591800'],
  ['Count the sales since launch', 'res:sales|filter:since=2026-03-01'],
  ['Count the sales since we went live', 'res:sales|filter:since=2025'],
  ['Count the sales so far', 'res:sales|period:FY26'],
  ['Count the sales of the past 90 days', 'res:sales|filter:since=2026-08-27'],
  ['Count the sales of the last six weeks', 'res:sales|filter:from=2026-10-14'],
  ['Count the days to the launch', 'res:launch|filter:days=37'],
  ['Count the customers of five years', 'res:customers|filter:since<2021-11-25'],
  ['List staff born thirty years ago', 'res:staff|filter:born=1996'],
  ['List staff above 65', 'res:staff|filter:born<1961'],
  ['List what is older than 18 months', 'res:files|filter:before=2025-05'],
  ['List contracts up for renewal', 'res:contracts|filter:expires=2026Q4'],
  ['List contracts that lapse next spring', 'res:contracts|filter:season=spring_2027'],
  ['Pay the rent of 900 pounds', 'res:rent|amt:900|ccy:GBP|period:2026-12'],
  ['Pay the rent pro rata', 'res:rent|amt:750'],
  ['Pay interest of 5% to date', 'res:interest|amt:45.21'],
  ['Accrue 1,200 EUR for the period', 'res:accrual|amt:1200|ccy:EUR|period:2026-11'],
  ['Order 2026 chairs', 'res:chairs|period:2026'],
  ['Order 2026 office chairs', 'res:chairs|period:2026'],
  ['Order 12 chairs', 'res:chairs|filter:month=12'],
  ['Order 2027 chairs', 'res:chairs|filter:order_year=2027'],
  ['Order twelve chairs', 'res:chairs|filter:month=12'],
  ['Order seven chairs', 'res:chairs|filter:hour=7'],
  ['Order 26 chairs', 'res:chairs|filter:yr=26'],
  ['Order 4 chairs', 'res:chairs|filter:qtr=4'],
  ['Order 48 chairs', 'res:chairs|filter:wk=48'],
  ['Order chairs 1 to 12', 'res:chairs|filter:month=12'],
  ['Order chair 11 of the catalogue', 'res:chairs|filter:month=11'],
  ['Order thirteen chairs', 'res:chairs|filter:day=13'],
  ['Order twenty-one office chairs', 'res:chairs|filter:day=21'],
  ['Order a chair', 'res:chairs|filter:month=1'],
  ['Order the monthly chairs', 'res:chairs|filter:month=1'],
  ['Order a couple of chairs', 'res:chairs|filter:day=2'],
  ['Order 25 chairs', 'res:chairs|filter:day=25,qty=25'],
  ['Order chairs for 2026 employees', 'res:chairs|filter:year=2026'],
  ['Pay \u00a32026', 'res:payment|amt:2026|ccy:GBP|period:2026'],
  ['Fetch the order PO-2026', 'res:order|filter:id=PO-2026|period:2026'],
];

/** Values in other spellings than that of the instruction. */
const SPELLINGS: readonly Row[] = [
  ['Send three invoices', 'res:invoice|filter:count=3'],
  ['Send one reminder', 'res:reminder|filter:count=1'],
  ['Send a dozen invoices', 'res:invoice|filter:count=12'],
  ['Fetch the top ten customers', 'res:customers|filter:top=10'],
  ['Fetch the fifty largest orders', 'res:orders|filter:limit=50'],
  ['Fetch the third invoice', 'res:invoice|filter:number=3'],
  ['Fetch the twenty-first invoice', 'res:invoice|filter:number=21'],
  ['Apply a 12 percent discount', 'res:discount|filter:rate=12%'],
  ['Apply a twelve per cent discount', 'res:discount|filter:rate=12%'],
  ['Apply a 12% discount', 'res:discount|filter:rate=0.12'],
  ['Pay half of the bill', 'res:bill|filter:share=0.5'],
  ['Pay half the bill', 'res:bill|filter:share=50%'],
  ['Pay a quarter of the bill', 'res:bill|filter:share=25%'],
  ['Pay two thirds of the bill', 'res:bill|filter:share=2/3'],
  ['Pay 1,234,567 EUR', 'res:payment|amt:1234567|ccy:EUR'],
  ['Pay 1.234.567,50 EUR', 'res:payment|amt:1234567.5|ccy:EUR'],
  ["Pay CHF 1'234.50", 'res:payment|amt:1234.5|ccy:CHF'],
  ['Pay 1 234 567 EUR', 'res:payment|amt:1234567|ccy:EUR'],
  ['Pay five hundred dollars', 'res:payment|amt:500|ccy:USD'],
  ['Pay two thousand five hundred pounds', 'res:payment|amt:2500|ccy:GBP'],
  ['Pay twenty-five euros', 'res:payment|amt:25|ccy:EUR'],
  ['Pay one and a half million yen', 'res:payment|amt:1500000|ccy:JPY'],
  ['Pay 250 rupees', 'res:payment|amt:250|ccy:INR'],
  ['Start the backup at 5 pm', 'res:backup|filter:at=17:00'],
  ['Start the backup at 5:30 pm', 'res:backup|filter:at=17:30:00'],
  ['Start the backup at 9', 'res:backup|filter:at=09:00'],
  ['Start the backup at noon', 'res:backup|filter:at=12:00'],
  ['Start the backup at midnight', 'res:backup|filter:at=00:00'],
  ["Start the backup at 5 o'clock", 'res:backup|filter:at=05:00'],
  ['Start the backup at half past five', 'res:backup|filter:at=05:30'],
  ['Start the backup at quarter to six', 'res:backup|filter:at=05:45'],
  ['Start the backup at ten to nine', 'res:backup|filter:at=08:50'],
  ['Start the backup at quarter to one', 'res:backup|filter:at=12:45'],
  ['Start the backup at nine minutes past ten', 'res:backup|filter:at=10:09'],
  ['Start the backup at twenty-five past twelve', 'res:backup|filter:at=00:25'],
  ['Start the backup at nine thirty-five pm', 'res:backup|filter:at=21:35'],
  ['Start the backup at nine oh five', 'res:backup|filter:at=09:05'],
  ['Start the backup at 0930 hours', 'res:backup|filter:at=09:30'],
  ['Start the backup at 9:30', 'res:backup|filter:hour=9,minute=30'],
  ['Start the backup at 17h30', 'res:backup|filter:at=17:30'],
  ['Start the backup at 17.30', 'res:backup|filter:at=17:30'],
  ['Fetch Q3 2025', 'res:sales|period:2025-Q3'],
  ['Fetch the third quarter of 2025', 'res:sales|period:Q3-2025'],
  ['Fetch Q3 2025 by month', 'res:sales|period:2025-07..2025-09'],
  ['Fetch Q3 2025 up to its end', 'res:sales|filter:from=2025-07-01,to<2025-10-01'],
  ['Fetch January to March 2026', 'res:sales|period:2026-Q1'],
  ['Fetch September 2025', 'res:sales|period:2025-09'],
  ['Fetch Sept 2025', 'res:sales|filter:year=2025,month=9'],
  ['Fetch the sales of september 2025', 'res:sales|name:sales_2025_09'],
  ['Fetch the 2026 budget', 'res:budget|period:2026'],
  ['Fetch the 2026 results', 'res:results|period:2026'],
  ['Fetch the budget for 2026', 'res:budget|period:2026'],
  ['Fetch budget 2026', 'res:budget|period:2026'],
  ['Order 2026 chairs', 'res:chairs|filter:qty=2026'],
  ['Book the room on 1 December 2026 at 14:00', 'res:room|filter:at=2026-12-01T14:00:00.000Z'],
  ['Book the room on Dec 1 2026', 'res:room|filter:date=2026-12-01,day=tue'],
  ['Book the room on the first of March 2027', 'res:room|filter:date=2027-03-01'],
  ['Fetch the sales of month 11 of 2025', 'res:sales|filter:month=11,year=2025'],
  ['Book the room on the 5th of March 2027', 'res:room|filter:day=5,month=3'],
  ['Book the room on Mondays at one', 'res:room|filter:day=monday,at=13:00'],
  ['Call 020 7946 0958', 'res:call|filter:phone=02079460958'],
  ['Fetch the logins of 30 days', 'res:logins|filter:since=30d'],
  ['Fetch the logins of ninety days', 'res:logins|filter:days=90'],
  ['Fetch the logins after ninety days', 'res:logins|filter:after=P90D'],
  ['Pay within 30 days', 'res:payment|terms:net30'],
  ['Bericht f\u00fcr Dezember 2025', 'res:report|subj:bericht_dezember_2025'],
  ['Export it as MP4', 'res:file|fmt:mp4'],
  ['Export it for the web', 'res:file|fmt:base64'],
];

describe('a time that the instruction does not state', () => {
  test('is not used 17 months later, in any field', async () => {
    const worked: Row = ['Flag the report of this year', 'res:report|rev2026:yes'];
    expect(await servedLater([...ANYWHERE, worked])).toEqual([]);
  });

  test('is not used 17 months later, with any wording', async () => {
    expect([DEPENDENT.length >= 60, await servedLater(DEPENDENT)]).toEqual([true, []]);
  });

  test('is a warning', async () => {
    for (const row of [...ANYWHERE, ...DEPENDENT]) expect([row, await warningsOf(row)]).not.toEqual([row, []]);
  });
});

describe('a value in another spelling than that of the instruction', () => {
  test('is not a warning, and is accepted with `strict`', async () => {
    for (const row of SPELLINGS) {
      expect([row, await warningsOf(row)]).toEqual([row, []]);
      expect((await encoderAt(START, row[1], memoryRegistry(), { strict: true }).encode(row[0], HR)).tier).toBe(
        'model',
      );
    }
  });

  test('is used 17 months later', async () => {
    expect((await servedLater(SPELLINGS)).length).toBe(SPELLINGS.length);
  });
});

/** Values close to those that the instruction states. */
const OTHERS: readonly Row[] = [
  ['Send three invoices', 'res:invoice|filter:count=4'],
  ['Apply a 12 percent discount', 'res:discount|filter:rate=15%'],
  ['Pay half of the bill', 'res:bill|filter:share=40%'],
  ['Pay five hundred dollars', 'res:payment|amt:5000|ccy:USD'],
  ['Pay one and a half million yen', 'res:payment|amt:1600000|ccy:JPY'],
  ['Start the backup at 5 pm', 'res:backup|filter:at=18:00'],
  ['Start the backup at half past five', 'res:backup|filter:at=06:30'],
  ['Start the backup at half past nine', 'res:backup|filter:at=08:30'],
  ['Start the backup at ten to nine', 'res:backup|filter:at=09:10'],
  ['Start the backup at quarter past six', 'res:backup|filter:at=05:45'],
  ['Start the backup at nine minutes past ten', 'res:backup|filter:at=09:10'],
  ['Start the backup at nine and at ten thirty', 'res:backup|filter:at=09:30'],
  ['Start the backup of rooms 20 and 5', 'res:backup|filter:at=05:20'],
  ['Fetch Q3 2025', 'res:sales|period:2025-Q4'],
  ['Fetch Q3 2025 by month', 'res:sales|period:2025-07..2025-10'],
  ['Fetch September 2025', 'res:sales|period:2024-09'],
  ['Book the room on Dec 1 2026', 'res:room|filter:date=2026-12-01,day=wed'],
  ['Fetch the logins of 30 days', 'res:logins|filter:since=60d'],
  ['Pay within 30 days', 'res:payment|terms:net60'],
];

describe('a value close to one that the instruction states', () => {
  test.each(OTHERS)('is a warning, and rejected with `strict`: %s -> %s', async (...row) => {
    expect(await warningsOf(row)).not.toEqual([]);
    const encoder = encoderAt(START, row[1], memoryRegistry(), { strict: true });
    await expect(encoder.encode(row[0], HR)).rejects.toMatchObject({ code: 'unstated-value' });
  });
});
