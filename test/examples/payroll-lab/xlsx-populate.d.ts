/** The part of xlsx-populate that the test uses; the package has no types. */
declare module 'xlsx-populate' {
  interface Cell {
    value(): unknown;
    formula(): string | undefined;
    style(name: string): unknown;
  }
  interface Sheet {
    name(): string;
    cell(address: string): Cell;
  }
  interface Workbook {
    sheets(): readonly Sheet[];
    sheet(name: string): Sheet | undefined;
  }
  const XlsxPopulate: { fromFileAsync(file: string): Promise<Workbook> };
  export default XlsxPopulate;
}
