import { storableJson, unstorableIn } from "../storable.ts";

type Arguments =
  /** `unstorable`: where a text stood that cannot be stored. It is replaced in `value`, which is to be shown and not to be called with. */
  | { readonly ok: true; readonly value: unknown; readonly unstorable: string | undefined }
  | { readonly ok: false };

/**
 * The value of a call's arguments as the model wrote them. Nothing at all counts as `{}`: that is how several models call a
 * tool without parameters.
 */
export function parseArguments(text: string): Arguments {
  if (text.trim() === "") return { ok: true, value: {}, unstorable: undefined };
  try {
    const written: unknown = JSON.parse(text);
    const value = storableJson(written);
    return { ok: true, value, unstorable: value === written ? undefined : unstorableIn(written) };
  } catch {
    return { ok: false };
  }
}
