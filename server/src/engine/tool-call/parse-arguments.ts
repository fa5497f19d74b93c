import { isNestedDeeper, parseExactly, rawNumber } from "../../base/json/index.ts";
import { storableJson, unstorableIn } from "../storable.ts";
import { maxLevels } from "./fit-result.ts";

/**
 * Maximum UTF-16 units of the arguments of one call. Parsing more would block the process too long.
 * It is above the maximum body of an HTTP tool (256 KiB), because arguments can contain escapes,
 * which are longer than the characters that they stand for.
 */
const maxLength = 1_048_576;

type Arguments =
  /**
   * `unstorable` is the location of the first string with characters that PostgreSQL cannot store;
   * undefined if there is none. In `value` these characters are replaced. If `unstorable` is
   * defined, `value` can be displayed but must not be passed to a tool.
   */
  | { readonly ok: true; readonly value: unknown; readonly unstorable: string | undefined }
  /** `mistake` says what is wrong with the text, as a phrase that follows "The arguments …". */
  | { readonly ok: false; readonly mistake: string };

/**
 * Parses the arguments of a tool call. Empty text counts as `{}`, because several models send empty
 * text for tools without parameters. Integers outside of ±2^53 become raw numbers (`RawNumber`), so
 * that a tool gets the id that the model wrote and no rounded one.
 */
export function parseArguments(text: string): Arguments {
  if (text.length > maxLength) {
    const mistake = `are longer than ${maxLength.toLocaleString("en")} characters; send less`;
    return { ok: false, mistake };
  }
  if (text.trim() === "") return { ok: true, value: {}, unstorable: undefined };
  if (isNestedDeeper(text, maxLevels))
    return { ok: false, mistake: `are nested more than ${maxLevels} levels deep` };
  try {
    const written: unknown = parseExactly(text, rawNumber);
    const value = storableJson(written);
    return { ok: true, value, unstorable: value === written ? undefined : unstorableIn(written) };
  } catch {
    return { ok: false, mistake: "are not JSON" };
  }
}
