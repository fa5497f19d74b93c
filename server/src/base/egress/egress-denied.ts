/**
 * The error of a call that is not allowed. No connection was opened, and a retry fails too unless
 * the operator allows the host. The message is for tenants: it contains the host and port of the
 * URL, never a resolved address, credentials or data from a server.
 */
export class EgressDenied extends Error {
  override readonly name = "EgressDenied";
  readonly code = "BECKON_EGRESS_DENIED";
  /**
   * What the operator must add to BECKON_EGRESS_ALLOW to allow the call, as `host:port`. Defined
   * only if the call was denied because its host is not public.
   */
  readonly hostPort: string | undefined;

  constructor(message: string, hostPort?: string) {
    super(message);
    this.hostPort = hostPort;
  }
}

/**
 * Returns the error for a host that is not public.
 * @param hostPort host and port of the URL, in the form of BECKON_EGRESS_ALLOW.
 */
export function notPublic(hostPort: string): EgressDenied {
  return new EgressDenied(
    `${hostPort} was not called: its host is not a public address. The operator of this ` +
      `server can open it with BECKON_EGRESS_ALLOW=${hostPort}.`,
    hostPort,
  );
}

export function badPort(hostPort: string): EgressDenied {
  return new EgressDenied(
    `${hostPort} was not called: its port belongs to a protocol other than HTTP. The operator ` +
      `of this server can open it with BECKON_EGRESS_ALLOW=${hostPort}.`,
  );
}
