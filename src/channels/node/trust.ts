/** The certificates that a client accepts. */
export interface Trust {
  /** The certificates of the trusted authorities, in PEM. @default those of Node */
  readonly ca?: string | readonly string[] | undefined;
  /** The name for which the certificate of the other side must be valid. @default the host */
  readonly serverName?: string | undefined;
}

/** Returns the options of `tls.connect`. */
export function tlsOptionsOf({ ca, serverName }: Trust): { ca?: string[]; servername?: string } {
  return {
    ...(ca === undefined ? {} : { ca: [ca].flat() as string[] }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
}
