import { storableJson, unstorableIn } from "../storable.ts";

type Arguments =
  /**
   * `unstorable` is the location of the first string with characters that PostgreSQL cannot store;
   * undefined if there is none. In `value` these characters are replaced. If `unstorable` is
   * defined, `value` can be displayed but must not be passed to a tool.
   */
  | { readonly ok: true; readonly value: unknown; readonly unstorable: string | undefined }
  | { readonly ok: false };

/**
 * Parses the arguments of a tool call. Empty text counts as `{}`, because several models send empty
 * text for tools without parameters.
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
