import { BeckonError } from "@beckon/client";

/** Returns the sentence about an error for the person: what happened, and what to do. */
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

/** Returns the error's code, which programs can rely on; `unexpected` if it is not of the API. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof BeckonError ? thrown.code : "unexpected";
}
