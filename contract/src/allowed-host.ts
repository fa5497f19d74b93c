/**
 * `host` or `host:port` as the URL standard writes it, or undefined for anything else: a scheme, a path, a wildcard, a range. Without
 * a port it is the one of the URL's scheme.
 */
export function parseAllowedHost(text: string): string | undefined {
  const [, host = "", port] =
    /^([\p{L}\p{N}_][\p{L}\p{N}._-]*|\[[\da-fA-F:.]+\])(?::(\d{1,5}))?$/u.exec(text) ?? [];
  if (host === "" || host.endsWith(".") || !URL.canParse(`http://${host}/`)) return undefined;
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return undefined;
  const { hostname } = new URL(`http://${host}/`);
  // A short or hex form of an address is hardly what its writer meant.
  if (/^[\d.]+$/.test(hostname) && hostname !== host) return undefined;
  return port === undefined ? hostname : `${hostname}:${Number(port)}`;
}

/** Whether a URL leads to one of these hosts: host and port exactly. */
export function isAllowed(origin: string, allowedHosts: readonly string[]): boolean {
  const { hostname, port, protocol } = new URL(origin);
  const withPort = `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
  return allowedHosts.some((allowed) => {
    const entry = parseAllowedHost(allowed);
    return entry !== undefined && (entry === withPort || (port === "" && entry === hostname));
  });
}
