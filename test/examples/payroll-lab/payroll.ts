/** The payroll rules: pay of each employee, and the anomalies in the data. Money is in pence, and hours in hundredths. */
import { hundredths, type Row } from './tables.js';

export type Employee = Row<'emp_id' | 'department' | 'cost_centre' | 'start_date' | 'end_date' | 'account'>;
export type Budget = Row<'cc_id' | 'approved_budget' | 'ytd_spend'>;

/** The rules that a packet names. */
export interface Rules {
  readonly overtimeFactor: number;
  readonly maxMonthlyHours: number;
  readonly minimumHourlyRate: string;
  /** The largest rise of a rate that is not reported, as a part of the rate. */
  readonly maxRateRise: number;
  /** The largest change of pay against the previous period that is not reported, as a part of it. */
  readonly maxPayChange: number;
}

export interface Input {
  /** The months of the period, as YYYY-MM. */
  readonly months: readonly string[];
  readonly period: string;
  readonly employees: readonly Employee[];
  readonly budgets: readonly Budget[];
  readonly hours: readonly Row<'emp_id' | 'month' | 'regular_hours' | 'overtime_hours'>[];
  readonly rates: readonly Row<'emp_id' | 'effective_from' | 'hourly_rate'>[];
  readonly deductions: readonly Row<'emp_id' | 'kind' | 'percent' | 'monthly_amount'>[];
  readonly rules: Rules;
}

/** A cell, row or total that someone has to review. */
export interface Anomaly {
  readonly code: AnomalyCode;
  /** An employee, several, or a cost centre. */
  readonly subject: string;
  /** A month, or the whole period. */
  readonly period: string;
  readonly detail: string;
}

export const ANOMALIES = {
  'bad-value': 'A cell is not a number; its row is not paid',
  'below-minimum': 'The hourly rate is below the minimum',
  'excess-hours': 'More hours in a month than the rules accept',
  'hours-after-end': 'Hours after the last day of employment; they are not paid',
  'hours-before-start': 'Hours before the first day of employment; they are not paid',
  'missing-hours': 'No hours in a month of employment',
  'missing-rate': 'No hourly rate; the hours are not paid',
  'negative-net': 'Deductions exceed the pay',
  'over-budget': 'The cost centre exceeds its budget',
  'pay-change': 'The pay differs much from the previous period',
  'rate-jump': 'The hourly rate has risen much',
  'repeated-hours': 'The same hours were entered twice; they are paid once',
  'shared-account': 'Several employees have the same account',
  'unknown-employee': 'Hours of someone who is not an active employee; they are not paid',
} as const;
export type AnomalyCode = keyof typeof ANOMALIES;

/** The pay of one employee in the period. */
export interface PayLine {
  readonly empId: string;
  readonly department: string;
  readonly costCentre: string;
  readonly regular: number;
  readonly overtime: number;
  readonly gross: number;
  readonly deductions: number;
  readonly net: number;
  readonly isWholePeriod: boolean;
}

export interface CostCentre {
  readonly id: string;
  readonly approved: number;
  readonly spent: number;
  readonly gross: number;
}

export interface Payroll {
  readonly lines: readonly PayLine[];
  readonly centres: readonly CostCentre[];
  readonly anomalies: readonly Anomaly[];
}

/** Calculates the payroll, and finds the anomalies that need no previous period. */
export function calculate({ months, period, employees, budgets, hours, rates, deductions, rules }: Input): Payroll {
  const anomalies: Anomaly[] = [];
  const report = (code: AnomalyCode, subject: string, when: string, detail: string): void => {
    anomalies.push({ code, subject, period: when, detail });
  };
  const number = (text: string, subject: string, when: string, column: string): number | null => {
    const value = hundredths(text);
    if (value === null) report('bad-value', subject, when, `${column} is ${JSON.stringify(text)}`);
    return value;
  };
  const known = new Set(employees.map(({ emp_id }) => emp_id));
  const accepted = new Map<string, (typeof hours)[number]>();
  for (const row of hours) {
    const { emp_id: id, month } = row;
    if (!months.includes(month)) continue;
    if (!known.has(id)) report('unknown-employee', id, month, `${row.regular_hours} hours without an active employee`);
    else if (accepted.has(`${id} ${month}`)) report('repeated-hours', id, month, 'a second row for the month');
    else accepted.set(`${id} ${month}`, row);
  }

  const lines = employees.map((employee): PayLine => {
    const { emp_id: id, start_date: start, end_date: end } = employee;
    const own = rates
      .filter(({ emp_id }) => emp_id === id)
      .map((row) => ({ from: row.effective_from, rate: number(row.hourly_rate, id, period, 'hourly_rate') }))
      .sort((a, b) => (a.from < b.from ? -1 : 1));
    const totals = { regular: 0, overtime: 0, gross: 0, paidMonths: 0 };
    let hasRate = true;
    let previousRate: number | null = null;
    for (const month of months) {
      const isEmployed = start <= `${month}-31` && (end === '' || end >= `${month}-01`);
      const row = accepted.get(`${id} ${month}`);
      if (!isEmployed) {
        if (row === undefined) continue;
        const isLate = end !== '' && end < `${month}-01`;
        report(
          isLate ? 'hours-after-end' : 'hours-before-start',
          id,
          month,
          isLate
            ? `${row.regular_hours} hours, employed until ${end}`
            : `${row.regular_hours} hours, employed from ${start}`,
        );
        continue;
      }
      if (row === undefined) {
        report('missing-hours', id, month, 'no row for the month');
        continue;
      }
      const rate = own.filter(({ from }) => from <= `${month}-31`).at(-1)?.rate ?? null;
      if (rate === null) {
        if (hasRate) report('missing-rate', id, month, 'no rate in force');
        hasRate = false;
        continue;
      }
      const minimum = hundredths(rules.minimumHourlyRate)!;
      if (rate < minimum && rate !== previousRate)
        report('below-minimum', id, month, `${money(rate)} instead of at least ${rules.minimumHourlyRate}`);
      if (previousRate !== null && rate > previousRate * (1 + rules.maxRateRise))
        report('rate-jump', id, month, `from ${money(previousRate)} to ${money(rate)}`);
      previousRate = rate;
      const regular = number(row.regular_hours, id, month, 'regular_hours');
      const overtime = number(row.overtime_hours, id, month, 'overtime_hours');
      if (regular === null || overtime === null) continue;
      if (regular + overtime > rules.maxMonthlyHours * 100)
        report('excess-hours', id, month, `${money(regular + overtime)} hours, at most ${rules.maxMonthlyHours}`);
      totals.regular += regular;
      totals.overtime += overtime;
      totals.gross += Math.round((rate * (regular + overtime * rules.overtimeFactor)) / 100);
      totals.paidMonths += 1;
    }
    let taken = 0;
    for (const { emp_id, kind, percent, monthly_amount: amount } of deductions) {
      if (emp_id !== id) continue;
      const value = number(percent === '' ? amount : percent, id, period, kind);
      if (value !== null)
        taken += percent === '' ? value * totals.paidMonths : Math.round((totals.gross * value) / 1e4);
    }
    const net = totals.gross - taken;
    if (net < 0) report('negative-net', id, period, `${money(taken)} deducted from ${money(totals.gross)}`);
    const isWholePeriod = start <= `${months[0]}-01` && (end === '' || end > `${months.at(-1)}-31`);
    const { regular, overtime, gross } = totals;
    const { department, cost_centre: costCentre } = employee;
    return { empId: id, department, costCentre, regular, overtime, gross, deductions: taken, net, isWholePeriod };
  });

  const owners = new Map<string, string[]>();
  for (const { account, emp_id: id } of employees) owners.set(account, [...(owners.get(account) ?? []), id]);
  for (const [account, ids] of owners) if (ids.length > 1) report('shared-account', ids.join(' '), period, account);
  const centres = budgets.map(({ cc_id: id, approved_budget, ytd_spend }): CostCentre => {
    const approved = number(approved_budget, id, period, 'approved_budget') ?? 0;
    const spent = number(ytd_spend, id, period, 'ytd_spend') ?? 0;
    const gross = lines.reduce((sum, line) => sum + (line.costCentre === id ? line.gross : 0), 0);
    if (spent + gross > approved) report('over-budget', id, period, `${money(spent + gross)} of ${money(approved)}`);
    return { id, approved, spent, gross };
  });
  return { lines, centres, anomalies };
}

/** Finds pay that differs much from the previous period, among those who worked the whole period in both. */
export function comparePay(
  lines: readonly PayLine[],
  previous: readonly Row<'emp_id' | 'gross'>[],
  period: string,
  { maxPayChange }: Rules,
): { readonly changes: ReadonlyMap<string, number>; readonly anomalies: readonly Anomaly[] } {
  const before = new Map(previous.map(({ emp_id, gross }) => [emp_id, hundredths(gross) ?? 0]));
  const changes = new Map<string, number>();
  const anomalies: Anomaly[] = [];
  for (const { empId, gross, isWholePeriod } of lines) {
    const old = before.get(empId) ?? 0;
    if (!isWholePeriod || old === 0 || gross === 0) continue;
    const change = (gross - old) / old;
    changes.set(empId, change);
    if (Math.abs(change) > maxPayChange) {
      const detail = `${money(gross)} after ${money(old)}`;
      anomalies.push({ code: 'pay-change', subject: empId, period, detail });
    }
  }
  return { changes, anomalies };
}

/** Returns the months of a quarter such as 2026-Q1; `null` for another form. */
export function monthsOf(period: string): readonly string[] | null {
  const [, year, quarter] = /^(\d{4})-Q([1-4])$/.exec(period) ?? [];
  if (year === undefined) return null;
  return [1, 2, 3].map((n) => `${year}-${String((Number(quarter) - 1) * 3 + n).padStart(2, '0')}`);
}

/** Writes hundredths with two decimals. */
export function money(value: number): string {
  return (value / 100).toFixed(2);
}
