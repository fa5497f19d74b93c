import { EgressDenied } from "../base/egress/index.ts";
import { ApiError } from "../base/errors.ts";

/** Returns why the receiver did not accept the delivery; undefined if it did. */
export function rejectionOf(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  const responded = `The receiver responded with status ${status}.`;
  if (status === 410) return `${responded} It no longer accepts deliveries.`;
  if (status < 400) return `${responded} Redirects are not followed: enter the final URL.`;
  return responded;
}

const untrusted =
  "The receiver's TLS certificate is not signed by a trusted authority. Replace it, or let the " +
  "operator add its authority with NODE_EXTRA_CA_CERTS.";

const messages: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  CERT_HAS_EXPIRED: "The receiver's TLS certificate has expired. Renew it.",
  CERT_NOT_YET_VALID: "The receiver's TLS certificate is not valid yet. Check the clocks.",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "The receiver's TLS certificate is for another host. Replace it, or correct the URL.",
  ECONNREFUSED: "The receiver refused the connection.",
  ECONNRESET: "The receiver closed the connection before it responded.",
  UND_ERR_SOCKET: "The receiver closed the connection before it responded.",
  EPIPE: "The receiver closed the connection before it responded.",
  ENOTFOUND: "The receiver's host name has no address.",
  EAI_AGAIN: "The receiver's host name could not be resolved.",
  EHOSTUNREACH: "The receiver's address cannot be reached.",
  ENETUNREACH: "The receiver's address cannot be reached.",
  ETIMEDOUT: "The receiver accepted no connection in time.",
  UND_ERR_CONNECT_TIMEOUT: "The receiver accepted no connection in time.",
  UND_ERR_HEADERS_OVERFLOW: "The response has more than 16 KiB of headers.",
};

/**
 * Returns why no response arrived. Messages of Node.js and of libraries are replaced, because they
 * can contain internal addresses or secrets.
 */
export function failureOf(thrown: unknown, timeoutMs: number): string {
  if (thrown instanceof EgressDenied || thrown instanceof ApiError) return thrown.message;
  const code = codeOf(thrown);
  if (code === "BECKON_TOTAL_TIMEOUT" || code === "UND_ERR_HEADERS_TIMEOUT")
    return `The receiver did not respond within ${timeoutMs / 1_000} seconds.`;
  const known = messages[code];
  if (known !== undefined) return known;
  if (/^(ERR_SSL|ERR_TLS|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|EPROTO)/.test(code))
    return `The TLS connection to the receiver failed: ${code}.`;
  if (thrown instanceof Error && thrown.name === "HTTPParserError")
    return "The response is not valid HTTP.";
  return `The request failed${code === "" ? "" : `: ${code}`}.`;
}

function codeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "";
  if ("code" in thrown && typeof thrown.code === "string") return thrown.code;
  return codeOf(thrown.cause);
}
