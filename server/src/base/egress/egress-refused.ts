/**
 * The module did not make this call and will not make it when asked again, unless the operator opens an exception. No
 * connection was tried. The message is for tenants: it repeats the host and port of the URL, never a resolved address,
 * credentials or anything a server said.
 */
export class EgressDenied extends Error {
  override readonly name = "EgressDenied";
  readonly code = "BECKON_EGRESS_REFUSED";
  /** The exception that would allow the call, if the host is not public. */
  readonly hostPort: string | undefined;

  constructor(message: string, hostPort?: string) {
    super(message);
    this.hostPort = hostPort;
  }
}

/** `hostPort` is host and port of the URL: what the exception would have to be. */
export function notPublic(hostPort: string): EgressDenied {
  return new EgressDenied(
    `${hostPort} was not called: its host is not a public address. The operator of this server can open it with BECKON_EGRESS_ALLOW=${hostPort}.`,
    hostPort,
  );
}

export function badPort(hostPort: string): EgressDenied {
  return new EgressDenied(
    `${hostPort} was not called: its port belongs to another protocol than HTTP. The operator of this server can open it with BECKON_EGRESS_ALLOW=${hostPort}.`,
  );
}
