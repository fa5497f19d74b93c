import { BeckonError } from "@beckon/client";

/** Returns the sentence that a person gets for an error: what happened, and what to do. */
export function sentenceOf(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  if (!(thrown instanceof BeckonError))
    return "Something in this page failed. Reload it; if that does not help, report it.";
  switch (thrown.code) {
    case "no_answer":
      return "Beckon did not respond. Check the connection, then try again.";
    case "timed_out":
      return "Beckon took too long to respond. Try again.";
    case "unexpected_answer":
      return "Something other than Beckon responded. Check the proxies in front of it.";
    default:
      return thrown.message;
  }
}

/**
 * Returns the error code of the API, which clients can rely on; `unexpected` if the error does not
 * come from the API.
 */
export function codeOf(thrown: unknown): string {
  return thrown instanceof BeckonError ? thrown.code : "unexpected";
}
