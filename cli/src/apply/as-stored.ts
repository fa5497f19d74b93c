// The index of the contract would also load Zod, at the start of every command.
import { parseAllowedHost } from "@beckon/contract/allowed-host";

/**
 * Returns a field's value as the server stores it. The server writes names of headers of
 * `receiving` in lower case, and `allowed_hosts` of tools as the URL standard serializes hosts.
 * Values that the server rejects are returned unchanged.
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

function serializedHost(value: unknown): unknown {
  return typeof value === "string" ? (parseAllowedHost(value) ?? value) : value;
}
