import type { DeliveryDetails, Subscription } from "@beckon/client";
import { shellArgument } from "../../format/index.ts";
import type { DeliveryAttempt } from "../queries.ts";

/** Matches headers that curl sets itself, or that belong to one connection. */
const ofConnection = /^(?:host|content-length|connection|transfer-encoding|accept-encoding)$/i;

const contentTypes: Readonly<Record<Subscription["format"], string>> = {
  standard: "application/json",
  cloudevents: "application/cloudevents+json",
};

/**
 * Returns the curl command that repeats the request of an attempt; undefined if the body is not
 * known. The command lacks the signature and the extra headers, which are secret.
 * @param subscription its current format is that of the body; the attempt can have been sent in
 *   another one
 * @param attempt undefined before the first attempt
 */
export function curlOf(
  { format }: Pick<Subscription, "format">,
  { body, url }: Pick<DeliveryDetails, "body" | "url">,
  attempt: Pick<DeliveryAttempt, "url" | "request_headers"> | undefined,
): string | undefined {
  if (body === null) return undefined;
  const headers = { ...attempt?.request_headers, "content-type": contentTypes[format] };
  return [
    `curl -sS -i ${shellArgument(attempt?.url ?? url)}`,
    ...Object.entries(headers)
      .filter(([name]) => !ofConnection.test(name))
      .map(([name, value]) => `-H ${shellArgument(`${name}: ${value}`)}`),
    `--data-raw ${shellArgument(body)}`,
  ].join(" \\\n  ");
}
