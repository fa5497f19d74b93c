import type { ModelList } from "@beckon/client";

/** Returns the provider's name in `provider/model`; an empty text if there is no `/`. */
export function providerOf(model: string): string {
  return model.slice(0, Math.max(0, model.indexOf("/")));
}

/** Returns in words where a provider comes from. */
export function originWords(origin: ModelList["origin"]): string {
  const words = {
    workspace: "added by members",
    environment: "from the server's environment",
    discovered: "found on the server's machine",
    built_in: "built in, needs no account",
  };
  return words[origin] ?? "";
}
