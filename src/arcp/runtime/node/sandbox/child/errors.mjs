// @ts-check
/** Conversion of errors to and from messages. */

/** @typedef {import('../../../../protocol/errors.js').ErrorBody} ErrorBody */

const CODE = /^[A-Z][A-Z0-9_.]{0,127}$/;

/**
 * Converts a thrown value. Errors of the protocol are unchanged, and denials of Node become `PERMISSION_DENIED`.
 *
 * @param {unknown} thrown
 * @returns {ErrorBody}
 */
export function bodyOf(thrown) {
  if (!(thrown instanceof Error)) {
    const message = typeof thrown === 'string' ? thrown : 'A value that is not an Error was thrown';
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
 * Creates an error from a message.
 *
 * @param {ErrorBody} body
 * @returns {Error}
 */
export function errorOf({ code, message, retryable, details }) {
  return Object.assign(new Error(message), { name: 'ArcpError', code, retryable, details });
}
