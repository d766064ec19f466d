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
  'bad-value': 'A cell is not a number from 0 on; its row is left out',
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

/** Reports an anomaly. */
type Report = (code: AnomalyCode, subject: string, period: string, detail: string) => void;
/** Reads a cell in hundredths, and reports one that is not a number. */
type ReadNumber = (text: string, subject: string, period: string, column: string) => number | null;
type HoursRow = Input['hours'][number];

/** Calculates the payroll, and finds the anomalies that need no previous period. */
export function calculate(input: Input): Payroll {
  const { period, employees, budgets } = input;
  const anomalies: Anomaly[] = [];
  const report: Report = (code, subject, when, detail) => {
    anomalies.push({ code, subject, period: when, detail });
  };
  const number: ReadNumber = (text, subject, when, column) => {
    const value = hundredths(text);
    if (value === null) report('bad-value', subject, when, `${column} is ${JSON.stringify(text)}`);
    return value;
  };
  const accepted = acceptHours(input, report);
  const lines = employees.map((employee) => payLine(employee, input, accepted, report, number));
  checkAccounts(employees, period, report);
  const centres = budgets.map(({ cc_id: id, approved_budget, ytd_spend }): CostCentre => {
    const approved = number(approved_budget, id, period, 'approved_budget') ?? 0;
    const spent = number(ytd_spend, id, period, 'ytd_spend') ?? 0;
    const gross = lines.reduce((sum, line) => sum + (line.costCentre === id ? line.gross : 0), 0);
    if (spent + gross > approved) report('over-budget', id, period, `${money(spent + gross)} of ${money(approved)}`);
    return { id, approved, spent, gross };
  });
  return { lines, centres, anomalies };
}

/** Returns the rows of hours by employee and month: those of active employees, each once. */
function acceptHours({ hours, months, employees }: Input, report: Report): ReadonlyMap<string, HoursRow> {
  const known = new Set(employees.map(({ emp_id }) => emp_id));
  const accepted = new Map<string, HoursRow>();
  for (const row of hours) {
    const { emp_id: id, month } = row;
    if (!months.includes(month)) continue;
    if (!known.has(id)) report('unknown-employee', id, month, `${row.regular_hours} hours without an active employee`);
    else if (accepted.has(`${id} ${month}`)) report('repeated-hours', id, month, 'a second row for the month');
    else accepted.set(`${id} ${month}`, row);
  }
  return accepted;
}

function payLine(
  employee: Employee,
  input: Input,
  accepted: ReadonlyMap<string, HoursRow>,
  report: Report,
  number: ReadNumber,
): PayLine {
  const { emp_id: id, department, cost_centre: costCentre, start_date: start, end_date: end } = employee;
  const { months, period, rules } = input;
  const rateIn = ratesOf(id, input, report, number);
  const totals = { regular: 0, overtime: 0, gross: 0, paidMonths: 0 };
  for (const month of months) {
    const row = accepted.get(`${id} ${month}`);
    const isBefore = start > `${month}-31`;
    if (isBefore || (end !== '' && end < `${month}-01`)) {
      if (row === undefined) continue;
      const since = isBefore ? `employed from ${start}` : `employed until ${end}`;
      report(isBefore ? 'hours-before-start' : 'hours-after-end', id, month, `${row.regular_hours} hours, ${since}`);
      continue;
    }
    if (row === undefined) {
      report('missing-hours', id, month, 'no row for the month');
      continue;
    }
    const rate = rateIn(month);
    if (rate === null) continue;
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
  const { regular, overtime, gross, paidMonths } = totals;
  const deductions = deducted(id, gross, paidMonths, input, number);
  const net = gross - deductions;
  if (net < 0) report('negative-net', id, period, `${money(deductions)} deducted from ${money(gross)}`);
  const isWholePeriod = start <= `${months[0]}-01` && (end === '' || end > `${months.at(-1)}-31`);
  return { empId: id, department, costCentre, regular, overtime, gross, deductions, net, isWholePeriod };
}

/** Returns a function for the rate in force in each month, called in their order. It reports each missing or unusual rate once. */
function ratesOf(
  id: string,
  { rates, rules, period }: Input,
  report: Report,
  number: ReadNumber,
): (month: string) => number | null {
  const own = rates
    .filter(({ emp_id }) => emp_id === id)
    .map((row) => ({ from: row.effective_from, rate: number(row.hourly_rate, id, period, 'hourly_rate') }))
    .sort((a, b) => (a.from < b.from ? -1 : 1));
  const minimum = hundredths(rules.minimumHourlyRate)!;
  let previous: number | null | undefined;
  return (month) => {
    const rate = own.filter(({ from }) => from <= `${month}-31`).at(-1)?.rate ?? null;
    if (rate === previous) return rate;
    if (rate === null) report('missing-rate', id, month, 'no rate in force');
    else {
      if (rate < minimum)
        report('below-minimum', id, month, `${money(rate)} instead of at least ${rules.minimumHourlyRate}`);
      if (previous && rate > previous * (1 + rules.maxRateRise))
        report('rate-jump', id, month, `from ${money(previous)} to ${money(rate)}`);
    }
    previous = rate;
    return rate;
  };
}

function deducted(
  id: string,
  gross: number,
  paidMonths: number,
  { deductions, period }: Input,
  number: ReadNumber,
): number {
  let sum = 0;
  for (const { emp_id, kind, percent, monthly_amount: amount } of deductions) {
    if (emp_id !== id) continue;
    const value = number(percent === '' ? amount : percent, id, period, kind);
    if (value !== null) sum += percent === '' ? value * paidMonths : Math.round((gross * value) / 1e4);
  }
  return sum;
}

function checkAccounts(employees: readonly Employee[], period: string, report: Report): void {
  const owners = new Map<string, string[]>();
  for (const { account, emp_id: id } of employees) owners.set(account, [...(owners.get(account) ?? []), id]);
  for (const [account, ids] of owners) if (ids.length > 1) report('shared-account', ids.join(' '), period, account);
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
