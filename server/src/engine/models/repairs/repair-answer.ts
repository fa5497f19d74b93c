import { isJsonObject, parseExactly, rawNumber } from "../../../base/json/index.ts";
import { repairChatCompletion } from "./chat-completions.ts";
import { repairGenerateContent } from "./generate-content.ts";
import { repairMessage } from "./messages.ts";
import { Repairs } from "./repairs.ts";
import { repairResponse } from "./responses.ts";

/**
 * Repairs the fields of a provider's response that would make the library reject a usable (and
 * paid) answer. Works for all supported API formats. Fields that are missing or have the wrong type
 * are converted or replaced by a default, for example token counts, ids, indexes, finish reasons
 * and tool arguments. Log probabilities and annotations are removed. NaN and Infinity become null.
 * Tool arguments with integers that the library would round become text (see `exactArguments`).
 * Never changes the text of the answer.
 *
 * @returns the repaired JSON text; undefined if nothing needed repair or if `text` is not a JSON
 *   object. An event of a stream can become two: the text is then the `data` of the first one, a
 *   blank line, and the whole second one.
 */
export function repairAnswer(text: string): string | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  const strict = tryParse(text);
  const body =
    strict ?? (/NaN|Infinity/.test(text) ? tryParse(withoutNotANumber(text)) : undefined);
  if (!isJsonObject(body)) return undefined;
  const repairs = new Repairs();
  repairChatCompletion(body, repairs);
  repairMessage(body, repairs);
  repairResponse(body, repairs);
  repairGenerateContent(body, repairs);
  if (!repairs.changed && strict !== undefined) return undefined;
  return [body, ...repairs.addedEvents].map((event) => JSON.stringify(event)).join("\n\ndata:");
}

function tryParse(text: string): unknown {
  try {
    return parseExactly(text, rawNumber);
  } catch {
    return undefined;
  }
}

/**
 * Replaces NaN and Infinity by null outside of string literals. Python's json module writes these
 * two values, although JSON does not have them.
 *
 * The pattern matches each quotation mark and each escape by itself. With a pattern for whole
 * string literals, the time for a literal without an end would grow with the square of its length.
 */
function withoutNotANumber(text: string): string {
  let isInString = false;
  return text.replace(/\\.|"|\bNaN\b|-?\bInfinity\b/gs, (word) => {
    if (word === '"') isInString = !isInString;
    return isInString || word === '"' || word.startsWith("\\") ? word : "null";
  });
}
