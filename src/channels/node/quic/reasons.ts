/** TLS alerts of a refused handshake: the transport error code is 0x100 and the alert (RFC 9001, section 4.8). */
const ALERTS: Readonly<Record<number, string>> = {
  298: 'its certificate is not valid for this name',
  301: 'its certificate has expired or is not yet valid',
  304: 'its certificate is from an unknown authority',
  376: 'it does not speak this protocol',
};

interface Details {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly data?: { readonly errorCode?: unknown; readonly reason?: unknown };
  readonly cause?: unknown;
}

/** Describes an error of the package, as a clause. */
export function quicReason(error: unknown): string {
  const { name, message, data, cause } = (error ?? {}) as Details;
  const kind = String(name);
  if (String((cause as Details | undefined)?.name).endsWith('Timeout')) return quicReason(cause);
  const alert = ALERTS[Number(data?.errorCode)];
  if (kind.endsWith('TLS')) return alert ?? `the TLS handshake failed with code ${String(data?.errorCode)}`;
  if (kind.endsWith('Timeout')) return 'the other side does not answer';
  if (/^ErrorQUICConnection(?:Peer|Local)$/.test(kind)) return 'the connection was closed';
  if (/^ErrorQUICStreamLimit$/.test(kind)) return 'the connection has no more streams';
  return typeof message === 'string' && message !== '' ? message : 'the connection was closed';
}

/** Converts the reason for which a stream or a connection ended to an error with a clear message. */
export function quicError(cause: unknown): Error {
  return new Error(quicReason(cause), { cause });
}
