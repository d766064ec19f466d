/** How long a provider asks to wait. */

/** What there is of a `Headers`. */
export interface HeaderSource {
  readonly get: (name: string) => string | null;
}

/**
 * Seconds, from `retry-after-ms` or `retry-after`, which holds seconds or a date; `null` where there is neither. A date is held
 * against the date of the reply itself, so that it does not matter how the clock here goes.
 *
 * Source: RFC 9110, section 10.2.3.
 */
export function retryAfterOf(headers: HeaderSource): number | null {
  const milliseconds = decimal(headers.get('retry-after-ms'));
  if (milliseconds !== null) return milliseconds / 1000;
  const value = headers.get('retry-after');
  const seconds = decimal(value);
  if (seconds !== null) return seconds;
  const wait = Date.parse(value ?? '') - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(wait) ? null : Math.max(0, wait / 1000);
}

function decimal(value: string | null): number | null {
  return value !== null && /^[0-9]{1,12}(?:\.[0-9]{1,9})?$/.test(value.trim()) ? Number(value) : null;
}
