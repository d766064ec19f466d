// @ts-check
/** Errors on their way to the runtime, and back. */

/** @typedef {import('../../../../protocol/errors.js').ErrorBody} ErrorBody */

const CODE = /^[A-Z][A-Z0-9_.]{0,127}$/;

/**
 * Those of the protocol as they are; what Node has denied is `PERMISSION_DENIED`.
 *
 * @param {unknown} thrown
 * @returns {ErrorBody}
 */
export function bodyOf(thrown) {
  if (!(thrown instanceof Error)) {
    const message = typeof thrown === 'string' ? thrown : 'Something was thrown that is no error';
    return { code: 'INTERNAL', message };
  }
  const { name, code, retryable, details, permission, resource } = /** @type {Record<string, any>} */ (
    /** @type {unknown} */ (thrown)
  );
  const message = String(thrown.message || name);
  if (name === 'ArcpError' && typeof code === 'string' && CODE.test(code))
    return {
      ...{ code, message },
      ...(typeof retryable === 'boolean' ? { retryable } : {}),
      ...(typeof details === 'object' && details !== null ? { details } : {}),
    };
  if (code === 'ERR_ACCESS_DENIED' || code === 'ERR_DLOPEN_DISABLED')
    return {
      ...{ code: 'PERMISSION_DENIED', message },
      details: { permission: String(permission ?? ''), resource: String(resource ?? '') },
    };
  if (name === 'AbortError') return { code: 'CANCELLED', message };
  return { code: name === 'TimeoutError' ? 'DEADLINE_EXCEEDED' : 'INTERNAL', message };
}

/**
 * @param {ErrorBody} body
 * @returns {Error}
 */
export function errorOf({ code, message, retryable, details }) {
  return Object.assign(new Error(message), { name: 'ArcpError', code, retryable, details });
}
