import type { Subscription } from "@beckon/client";

/** Returns the name of a subscription: its description or, if that is empty, its URL. */
export function nameOf({ description, url }: Pick<Subscription, "description" | "url">): string {
  return description.trim() === "" ? shortUrl(url) : description;
}

/** Returns a URL without `https://` and without a slash at the end. */
export function shortUrl(url: string): string {
  return url.replace(/^https:\/\//, "").replace(/\/$/, "");
}
