import { isIPv4 } from "node:net";

/**
 * Returns `host:port` in a canonical form for comparison: the host as the URL standard serializes
 * it (lower case, punycode, IPv6 compressed and in brackets), always with the port. Returns
 * undefined if `text` is not exactly a host and a port: for example if the port is missing, or if
 * `text` contains a scheme, a path, a wildcard, a range or a space, or the host ends with a dot.
 *
 * An IPv4 address must have four decimal numbers. The URL standard also accepts fewer and reads
 * `10.1:80` as 10.0.0.1, which the author probably did not mean.
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
