import { BeckonError } from "@beckon/client";
import { sentenceOf } from "../data/index.ts";

/** Returns the sentence that explains a failed sign-in. */
export function signInSentence(thrown: unknown): string {
  if (!(thrown instanceof BeckonError)) return sentenceOf(thrown);
  if (thrown.status === 401)
    return "The e-mail or the password is wrong. If you forgot the password, ask an owner of your workspace for a reset link.";
  return tooManySentence(thrown) ?? sentenceOf(thrown);
}

/** Returns the sentence that explains status 429; undefined for other errors. */
export function tooManySentence(thrown: unknown): string | undefined {
  if (!(thrown instanceof BeckonError) || thrown.status !== 429) return undefined;
  const minutes = Math.max(1, Math.ceil((thrown.retryAfter ?? 60) / 60));
  return `There were too many failed attempts from your address. Try again in ${
    minutes === 1 ? "a minute" : `${minutes} minutes`
  }.`;
}
