import { sentenceOf } from "../ui/index.ts";

/**
 * Returns the field of a form that an error of the API is about: the one that its message begins
 * with. Undefined if it is about none of them.
 */
export function fieldNamed<Name extends string>(
  thrown: unknown,
  names: readonly Name[],
): Name | undefined {
  const [first] = /^\w+/.exec(sentenceOf(thrown)) ?? [];
  return names.find((name) => name === first);
}
