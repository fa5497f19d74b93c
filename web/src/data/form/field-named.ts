import { sentenceOf } from "../../ui/index.ts";

/**
 * Returns the form field that an error of the API is about. The API's message begins with the name
 * of the field. Undefined if the message begins with none of `names`.
 */
export function fieldNamed<Name extends string>(
  thrown: unknown,
  names: readonly Name[],
): Name | undefined {
  const [first] = /^\w+/.exec(sentenceOf(thrown)) ?? [];
  return names.find((name) => name === first);
}
