/** Versions of the protocol (spec 003, "Canonical Envelope": "Protocol version understood by the sender"). */

/** What this implementation writes. */
export const ARCP_VERSION = '1.0';

/** What it reads, as told to a peer that speaks another version. */
export const SUPPORTED_VERSIONS: readonly string[] = [ARCP_VERSION];

/** Two numbers, `MAJOR.MINOR`. */
export const VERSION = /^(?:0|[1-9][0-9]{0,8})\.(?:0|[1-9][0-9]{0,8})$/;

export function isVersion(value: unknown): value is string {
  return value === ARCP_VERSION || (typeof value === 'string' && VERSION.test(value));
}

/** Whether messages of a version are read here: minor versions add, major ones change. */
export function isSupported(version: string): boolean {
  return version === ARCP_VERSION || (version.startsWith('1.') && VERSION.test(version));
}

/** The subprotocol of WebSockets that a client may ask for. */
export const SUBPROTOCOL = 'arcp';
