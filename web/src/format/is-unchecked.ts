/**
 * Returns whether the API's error of a provider's list of models says that nothing is known about
 * the provider, because it has no list. Its models may work all the same.
 */
export function isUnchecked(error: string): boolean {
  return error.includes("cannot check it");
}
