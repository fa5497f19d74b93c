import { isIPv4 } from "node:net";

/**
 * `host:port` as one text to compare by: the host as the URL standard writes it (lower case, punycode, IPv6 shortest and in
 * brackets), the port always there. undefined for anything else: no port, a scheme, a path, a wildcard, a range, a space, a
 * trailing dot.
 *
 * An IPv4 address must be written as four decimal numbers: `10.1:80` is 10.0.0.1 to the URL standard, which is hardly what
 * its writer meant.
 */
export function parseHostPort(text: string): string | undefined {
  const [, host = "", digits = ""] =
    /^([\p{L}\p{N}_][\p{L}\p{N}._-]*|\[[\da-fA-F:.]+\]):(\d{1,5})$/u.exec(text) ?? [];
  const port = Number(digits);
  if (
    host === "" ||
    host.endsWith(".") ||
    port < 1 ||
    port > 65_535 ||
    !URL.canParse(`http://${host}/`)
  )
    return undefined;
  const { hostname } = new URL(`http://${host}/`);
  return isIPv4(hostname) && hostname !== host ? undefined : `${hostname}:${port}`;
}
