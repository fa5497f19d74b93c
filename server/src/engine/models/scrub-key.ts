import { secretForms } from "../secret-forms.ts";

/** Removes a key from text, in every form of `secretForms`. Without a key nothing is removed. */
export function keyScrubber(apiKey: string | undefined): (text: string) => string {
  if (apiKey === undefined || apiKey === "") return (text) => text;
  // Made with the first error: most keys never need it.
  let pattern: RegExp | undefined;
  return (text) => {
    pattern ??= secretForms([apiKey]).pattern;
    return pattern === undefined ? text : text.replaceAll(pattern, "[secret]");
  };
}
