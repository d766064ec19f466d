/** The workbook of the payroll, with all anomalies marked. */
import exceljs from 'exceljs';
import { DATA, type Report } from './agents.js';
import { ANOMALIES, type Anomaly } from './payroll.js';
import { readTable } from './tables.js';

const MONEY = '#,##0.00;[Red]-#,##0.00';
/** The fill of marked rows. Tests and readers of the workbook find them by it. */
export const MARK = 'FFFFE0B2';

/** Writes the workbook: a sheet with the pay of each employee, one with the cost centres, and one with the anomalies. */
export async function writeWorkbook(file: string, report: Report, period: string): Promise<void> {
  const workbook = new exceljs.Workbook();
  workbook.creator = 'payroll lab';
  payrollSheet(workbook, report, period);
  centresSheet(workbook, report);
  anomaliesSheet(workbook, report.anomalies);
  await workbook.xlsx.writeFile(file);
}

function payrollSheet(workbook: exceljs.Workbook, { lines, anomalies, changes }: Report, period: string): void {
  const names = new Map(
    readTable(new URL('employees.csv', DATA), ['emp_id', 'name']).map((row) => [row.emp_id, row.name]),
  );
  const sheet = sheetOf(workbook, `Payroll ${period}`, [
    ['Employee', 11],
    ['Name', 22],
    ['Department', 14],
    ['Cost centre', 12],
    ['Regular hours', 14, '#,##0.00'],
    ['Overtime hours', 15, '#,##0.00'],
    ['Gross', 14, MONEY],
    ['Deductions', 13, MONEY],
    ['Net', 14, MONEY],
    ['Change', 10, '+0.0%;-0.0%;0.0%'],
    ['Review', 44],
  ]);
  for (const { empId, department, costCentre, regular, overtime, gross, deductions, net } of lines) {
    const own = anomalies.filter(({ subject }) => subject.split(' ').includes(empId));
    const amounts = [regular, overtime, gross, deductions, net].map((value) => value / 100);
    const review = [...new Set(own.map(({ code }) => code))].join(', ');
    const row = sheet.addRow([
      empId,
      names.get(empId) ?? '',
      department,
      costCentre,
      ...amounts,
      changes[empId] ?? null,
      review,
    ]);
    if (own.length > 0) {
      mark(row);
      row.getCell(11).note = own.map(noteOf).join('\n');
    }
  }
  const last = lines.length + 1;
  const sum = (column: string, key: 'regular' | 'overtime' | 'gross' | 'deductions' | 'net') => ({
    formula: `SUM(${column}2:${column}${last})`,
    // Programs that do not calculate show this value.
    result: lines.reduce((total, line) => total + line[key], 0) / 100,
  });
  const total = sheet.addRow([
    'Total',
    '',
    '',
    '',
    sum('E', 'regular'),
    sum('F', 'overtime'),
    sum('G', 'gross'),
    sum('H', 'deductions'),
    sum('I', 'net'),
  ]);
  total.font = { bold: true };
  total.border = { top: { style: 'thin' } };
  sheet.autoFilter = { from: 'A1', to: `K${last}` };
}

function centresSheet(workbook: exceljs.Workbook, { centres, anomalies }: Report): void {
  const sheet = sheetOf(workbook, 'Cost centres', [
    ['Cost centre', 13],
    ['Budget', 15, MONEY],
    ['Spent before', 15, MONEY],
    ['Gross pay', 15, MONEY],
    ['Left', 15, MONEY],
    ['Review', 30],
  ]);
  for (const [index, { id, approved, spent, gross }] of centres.entries()) {
    const own = anomalies.filter(({ subject }) => subject === id);
    const n = index + 2;
    const left = { formula: `B${n}-C${n}-D${n}`, result: (approved - spent - gross) / 100 };
    const row = sheet.addRow([
      id,
      approved / 100,
      spent / 100,
      gross / 100,
      left,
      own.map(({ code }) => code).join(', '),
    ]);
    if (own.length > 0) mark(row);
  }
}

function anomaliesSheet(workbook: exceljs.Workbook, anomalies: readonly Anomaly[]): void {
  const sheet = sheetOf(workbook, 'Anomalies', [
    ['Code', 20],
    ['Subject', 16],
    ['Period', 11],
    ['Detail', 48],
    ['Meaning', 62],
  ]);
  for (const { code, subject, period, detail } of anomalies)
    sheet.addRow([code, subject, period, detail, ANOMALIES[code]]);
  sheet.autoFilter = { from: 'A1', to: `E${anomalies.length + 1}` };
}

type Column = readonly [header: string, width: number, format?: string];

function sheetOf(workbook: exceljs.Workbook, name: string, columns: readonly Column[]): exceljs.Worksheet {
  const sheet = workbook.addWorksheet(name, { views: [{ state: 'frozen', ySplit: 1 }] });
  sheet.columns = columns.map(([header, width, numFmt]) => ({
    header,
    width,
    ...(numFmt === undefined ? {} : { style: { numFmt } }),
  }));
  const heading = sheet.getRow(1);
  heading.font = { bold: true, color: { argb: 'FFFFFFFF' } };
  heading.fill = { type: 'pattern', pattern: 'solid', fgColor: { argb: 'FF263238' } };
  return sheet;
}

/** Marks a row. Empty cells, too, so that the mark is one stripe. */
function mark(row: exceljs.Row): void {
  row.eachCell({ includeEmpty: true }, (cell) => {
    cell.fill = { type: 'pattern', pattern: 'solid', fgColor: { argb: MARK } };
  });
}

function noteOf({ period, detail, code }: Anomaly): string {
  return `${period}: ${ANOMALIES[code]} (${detail})`;
}
