import { ModelFailure } from "../model-failure.ts";

const timeouts = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "ETIMEDOUT",
  "ESOCKETTIMEDOUT",
  "BECKON_TOTAL_TIMEOUT",
]);

/** Error codes of connections that failed before or during the response. */
const lost = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "EPIPE",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_SOCKET",
  "UND_ERR_ABORTED",
  "UND_ERR_CLOSED",
  "UND_ERR_DESTROYED",
]);

/** Messages of permanent failures, which a retry would repeat, by error code. */
const permanent: Readonly<Record<string, string>> = {
  BECKON_ENCODED_BODY:
    "The model's provider compressed its response although Beckon asked it not to.",
  BECKON_EGRESS_DENIED:
    "The model's base URL is not a public http or https address. Ask the operator of this server to allow it with BECKON_EGRESS_ALLOW.",
  UND_ERR_INVALID_ARG: "The model's base URL cannot be called.",
  ERR_INVALID_URL: "The model's base URL cannot be called.",
};

/**
 * Returns the failure for the first known error code of Node or undici among `thrown` and its
 * causes; undefined if there is none. The messages of the original errors are not used, because
 * they contain addresses.
 */
export function transportFailure(thrown: unknown): ModelFailure | undefined {
  for (
    let error = thrown, depth = 0;
    error instanceof Error && depth < 8;
    error = error.cause, depth += 1
  ) {
    const failure =
      "code" in error && typeof error.code === "string" ? byCode(error.code) : undefined;
    if (failure !== undefined) return failure;
  }
  return undefined;
}

function byCode(code: string): ModelFailure | undefined {
  if (timeouts.has(code)) {
    return new ModelFailure(`The model's provider did not answer in time (${code}).`, {
      kind: "timeout",
      retryable: true,
    });
  }
  if (lost.has(code) || code.startsWith("HPE_")) {
    return new ModelFailure(`The connection to the model's provider failed (${code}).`, {
      retryable: true,
      unreachable: true,
    });
  }
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/.test(code)) {
    return new ModelFailure(
      `No secure connection to the model's provider could be made (${code}).`,
      { retryable: false },
    );
  }
  const message = permanent[code];
  return message === undefined ? undefined : new ModelFailure(message, { retryable: false });
}
