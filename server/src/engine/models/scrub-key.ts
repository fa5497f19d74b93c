import { type Scrubber, scrubberFor } from "../../base/secrets/index.ts";

/**
 * Returns a function that replaces the key in a text by `[secret]`, in every encoding that
 * `secretForms` covers. If there is no key, the function returns the text unchanged.
 */
export function keyScrubber(apiKey: string | undefined): (text: string) => string {
  if (apiKey === undefined || apiKey === "") return (text) => text;
  // Created on first use, because most keys never appear in an error.
  let scrubber: Scrubber | undefined;
  return (text) => {
    scrubber ??= scrubberFor([apiKey]);
    return scrubber.text(text);
  };
}
