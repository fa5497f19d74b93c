import { isJsonObject, type JsonObject } from "../../../base/json/index.ts";
import { objectsIn, type Repairs } from "./repairs.ts";

/** Repairs a response, or an event of a streamed one, of `generateContent` in Google's API. */
export function repairGenerateContent(body: JsonObject, repairs: Repairs): void {
  if (!Array.isArray(body.candidates)) return;
  repairs.text(body, "responseId");
  repairs.usage(body, "usageMetadata");
  for (const candidate of objectsIn(body.candidates)) {
    repairs.text(candidate, "finishReason");
    if (!isJsonObject(candidate.content)) continue;
    for (const { functionCall } of objectsIn(candidate.content.parts))
      if (isJsonObject(functionCall)) repairs.exactArguments(functionCall, "args");
  }
}
