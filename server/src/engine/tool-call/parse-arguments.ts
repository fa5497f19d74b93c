import { storableJson, unstorableIn } from "../storable.ts";

type Arguments =
  /**
   * `unstorable`: location of a string that PostgreSQL cannot store. It is replaced in `value`,
   * which must then only be displayed, not passed to a tool.
   */
  | { readonly ok: true; readonly value: unknown; readonly unstorable: string | undefined }
  | { readonly ok: false };

/**
 * Parses the arguments of a tool call. Empty text counts as `{}`: several models send that for
 * tools without parameters.
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
