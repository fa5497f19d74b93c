import { storableJson } from "./storable.ts";

/**
 * The value of a call's arguments as the model wrote them. Nothing at all counts as `{}`: that is how several models call a
 * tool without parameters.
 */
export function parseArguments(text: string): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  if (text.trim() === "") return { ok: true, value: {} };
  try {
    return { ok: true, value: storableJson(JSON.parse(text)) };
  } catch {
    return { ok: false };
  }
}
