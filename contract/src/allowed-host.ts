/**
 * Parses an entry of a tool's `allowed_hosts`. An entry is `host` or `host:port`. Without a port,
 * it allows only the default port of the called URL's scheme.
 * @returns the host as the URL standard serializes it, with the port if there is one; undefined if
 *   `text` is anything else, for example has a scheme, a path or a wildcard.
 */
export function parseAllowedHost(text: string): string | undefined {
  const [, host = "", port] =
    /^([\p{L}\p{N}_][\p{L}\p{N}._-]*|\[[\da-fA-F:.]+\])(?::(\d{1,5}))?$/u.exec(text) ?? [];
  if (host === "" || host.endsWith(".") || !URL.canParse(`http://${host}/`)) return undefined;
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return undefined;
  const { hostname } = new URL(`http://${host}/`);
  // Rejects short, octal and hexadecimal notations of IPv4 addresses, such as 127.1, which are
  // likely mistakes.
  if (/^[\d.]+$/.test(hostname) && hostname !== host) return undefined;
  return port === undefined ? hostname : `${hostname}:${Number(port)}`;
}

/** Returns whether `allowedHosts` lists the host and port of `origin`. Subdomains do not match. */
export function isAllowed(origin: string, allowedHosts: readonly string[]): boolean {
  const { hostname, port, protocol } = new URL(origin);
  const withPort = `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
  return allowedHosts.some((allowed) => {
    const entry = parseAllowedHost(allowed);
    return entry !== undefined && (entry === withPort || (port === "" && entry === hostname));
  });
}
