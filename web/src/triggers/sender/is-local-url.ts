/** Names and addresses that senders in the internet cannot reach (RFC 6761, 6762, 8375, 9476). */
const localNames = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;
/** RFC 1122, 1918, 3927 and 6598. */
const localIpv4 =
  /^(?:0|10|127|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.168|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./;
/** `::`, `::1`, RFC 4193 and RFC 4291, section 2.5.6. */
const localIpv6 = /^\[(?:::1?\]|f[cd]|fe[89ab])/;

/**
 * Returns whether the host of a URL is this machine, a private address, or a name without a dot,
 * which has a meaning only in its own network.
 */
export function isLocalUrl(url: string): boolean {
  const { hostname } = new URL(url);
  if (hostname.startsWith("[")) return localIpv6.test(hostname);
  if (/^[\d.]+$/.test(hostname)) return localIpv4.test(hostname);
  return !hostname.includes(".") || localNames.test(hostname);
}
