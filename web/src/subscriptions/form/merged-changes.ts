import { BeckonError, type Subscription, type UpdateSubscriptionBody } from "@beckon/client";
import { isEqual } from "../../ui/index.ts";
import { hasOtherOrigin } from "./subscription-fields.ts";

/** The server for which a person entered a secret and headers. */
export interface EnteredFor {
  /** The subscription with which the form was filled in. */
  readonly base: Subscription;
  /** The URL in the form. */
  readonly url: string;
}

/**
 * Rejects changes that would send a secret or headers to a server for which they were not entered,
 * or replace headers that the form did not show. A merge cannot find this, because the API does not
 * return secrets and values of headers.
 * @param before the current subscription, which somebody else may have changed
 * @throws BeckonError `conflict`
 */
export function requireSameServer(
  { url, secret, headers }: UpdateSubscriptionBody,
  before: Subscription,
  entered: EnteredFor,
): void {
  const target = url ?? before.url;
  const moves = hasOtherOrigin(before.url, target);
  const isElsewhere = hasOtherOrigin(entered.url, target);
  // For a move without a secret, the API would name a field that the form does not show.
  if (moves ? isElsewhere || secret === undefined : isElsewhere && (secret ?? headers))
    throw changedBySomebody("the URL", before.url);
  if (moves || headers === undefined) return;
  const stored = namesOf(before.header_names);
  // If the response to an earlier save was lost, the stored headers can be those of the form.
  const areExpected = [entered.base.header_names, Object.keys(headers)].some((names) =>
    isEqual(namesOf(names), stored),
  );
  if (!areExpected)
    throw changedBySomebody("the extra headers", before.header_names.join(", ") || "none");
}

/**
 * Returns the result of a merge without the secret and the headers that were entered for a URL that
 * the person has given up. Without a choice of the URL, returns the result unchanged.
 */
export function withoutGivenUp(
  merged: Readonly<Record<string, unknown>>,
  theirs: Subscription,
  { url, headers }: UpdateSubscriptionBody,
): object {
  if (url === undefined || url === theirs.url || merged.url !== theirs.url) return merged;
  const { secret: _secret, headers: _headers, ...others } = merged;
  const isForThem = headers !== undefined && !hasOtherOrigin(theirs.url, url);
  return isForThem ? { ...others, headers } : others;
}

function namesOf(names: readonly string[]): readonly string[] {
  return names.map((name) => name.toLowerCase()).sort();
}

function changedBySomebody(what: string, now: string): BeckonError {
  const message = `Somebody else has changed ${what} to ${now}. Close this dialog and open it again.`;
  return new BeckonError({ code: "conflict", message });
}
