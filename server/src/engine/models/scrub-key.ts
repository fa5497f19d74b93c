import { secretForms } from "../secret-forms.ts";

/**
 * Returns a function that removes the key from text, in every form of `secretForms`. Without a key
 * it changes nothing.
 */
export function keyScrubber(apiKey: string | undefined): (text: string) => string {
  if (apiKey === undefined || apiKey === "") return (text) => text;
  // Compiled on first use: most keys never appear in an error.
  let pattern: RegExp | undefined;
  return (text) => {
    pattern ??= secretForms([apiKey]).pattern;
    return pattern === undefined ? text : text.replaceAll(pattern, "[secret]");
  };
}
