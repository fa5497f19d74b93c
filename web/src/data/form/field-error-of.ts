import { sentenceOf } from "../../ui/index.ts";

/**
 * Returns the form field that an error of the API is about, and the message to show below it. The
 * API's message begins with the name of a field. The returned message does not have this name.
 * Returns undefined if the error is about none of `fields`.
 * @param fields for each field of the API, the form field from which its value comes
 */
export function fieldErrorOf<Field extends string>(
  thrown: unknown,
  fields: Readonly<Record<string, Field>>,
): { readonly field: Field; readonly message: string } | undefined {
  const sentence = sentenceOf(thrown);
  const [name = ""] = /^\w+/.exec(sentence) ?? [];
  const field = fields[name];
  if (field === undefined) return undefined;
  return { field, message: sentence.replace(/^\w+(?:\.[\w.-]+)?: ?/, "") };
}
