/** How names are spelt. */

/** `fetchEmployees` for `fetch_employees`. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
