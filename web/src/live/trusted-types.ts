/** The part of Trusted Types (W3C) that is used here; not in TypeScript's DOM library. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

/**
 * Returns the URL of one of our worker scripts as a `TrustedScriptURL`, which the page's
 * Content-Security-Policy requires.
 * @throws TypeError for the URL of another origin
 */
export function trustedScriptUrl(url: string): string {
  policy ??= (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("beckon", {
    createScriptURL: ownUrl,
  });
  return policy === undefined ? ownUrl(url) : policy.createScriptURL(url);
}

let policy: ReturnType<TrustedTypes["createPolicy"]> | undefined;

function ownUrl(url: string): string {
  if (new URL(url, location.href).origin !== location.origin)
    throw new TypeError("A worker's script must come from this origin.");
  return url;
}
