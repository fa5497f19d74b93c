/**
 * Returns a field's value as the server stores it. The server writes names of headers of
 * `receiving` in lower case, and `allowed_hosts` of tools as the URL standard serializes hosts.
 */
export function asStored(field: string, value: unknown): unknown {
  if (field === "header") return inLowerCase(value);
  if (field === "headers") return Array.isArray(value) ? value.map(inLowerCase) : value;
  if (field === "allowed_hosts") return Array.isArray(value) ? value.map(serializedHost) : value;
  return value;
}

function inLowerCase(value: unknown): unknown {
  return typeof value === "string" ? value.toLowerCase() : value;
}

/**
 * Returns `value` unchanged if it is no `host` or `host:port`, or an IPv4 address in an unusual
 * notation. The server then rejects it.
 */
function serializedHost(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const [, host = "", port] = /^([^/?#@\\\s]+?)(?::(\d+))?$/.exec(value) ?? [];
  const url = URL.parse(`http://${host}/`);
  if (url === null || (/^[\d.]+$/.test(url.hostname) && url.hostname !== host)) return value;
  return port === undefined ? url.hostname : `${url.hostname}:${Number(port)}`;
}
