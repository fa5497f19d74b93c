import { isJsonObject, type JsonObject } from "../../base/json/index.ts";

/**
 * Repairs the fields of a provider's response that would make the library reject a usable (and
 * paid) answer. Works for all supported API formats. Fields that are missing or have the wrong type
 * are converted or replaced by a default, for example token counts, ids, indexes, finish reasons
 * and tool arguments. Log probabilities and annotations are removed. NaN and Infinity become null.
 * Never changes the text of the answer.
 *
 * @returns the repaired JSON text; undefined if nothing needed repair or if `text` is not a JSON
 *   object.
 */
export function repairAnswer(text: string): string | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  const strict = parse(text);
  const body = strict ?? (/NaN|Infinity/.test(text) ? parse(withoutNotANumber(text)) : undefined);
  if (!isJsonObject(body)) return undefined;
  const repaired = repairBody(body);
  return repaired || strict === undefined ? JSON.stringify(body) : undefined;
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

/**
 * Value that replaces a missing or invalid token count. It is so low that the sum is still negative
 * after the library adds other counts to it. `reportedUsage` rejects a negative sum, and the usage
 * is then estimated.
 */
const invalidCount = Number.MIN_SAFE_INTEGER;

/** Repairs `body` in place. Returns whether anything changed. */
function repairBody(body: JsonObject): boolean {
  let changed = false;
  const setField = (target: JsonObject, field: string, value: unknown) => {
    if (target[field] === value) return;
    target[field] = value;
    changed = true;
  };

  /**
   * Converts a number or boolean to a string, and any other value that is not a string to
   * `fallback`.
   */
  const repairText = (
    target: JsonObject,
    field: string,
    fallback: string | null | undefined = null,
  ) => {
    const value = target[field];
    if (
      typeof value === "string" ||
      value === fallback ||
      (value === undefined && fallback === null)
    )
      return;
    setField(
      target,
      field,
      typeof value === "number" || typeof value === "boolean" ? String(value) : fallback,
    );
  };
  const repairNumber = (target: JsonObject, field: string, fallback: unknown) => {
    const value = target[field];
    if (
      value === undefined ||
      value === null ||
      (typeof value === "number" && Number.isFinite(value))
    )
      return;
    const read = typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
    setField(target, field, Number.isFinite(read) ? read : fallback);
  };
  const repairCounts = (target: JsonObject, depth = 0) => {
    if (depth > 3) return;
    for (const [field, value] of Object.entries(target)) {
      if (/tokens$|tokenCount$/i.test(field)) repairNumber(target, field, invalidCount);
      else if (isJsonObject(value)) repairCounts(value, depth + 1);
      else if (Array.isArray(value))
        for (const each of recordsOf(value)) repairCounts(each, depth + 1);
      else if (/details$/i.test(field)) setField(target, field, null);
    }
  };
  const repairUsage = (target: JsonObject, field: string, required: readonly string[] = []) => {
    const value = target[field];
    if (isJsonObject(value)) repairCounts(value);
    else if (required.length > 0) setField(target, field, {});
    else if (value !== undefined) setField(target, field, null);
    const counted = target[field];
    if (isJsonObject(counted))
      for (const name of required)
        if (typeof counted[name] !== "number") setField(counted, name, invalidCount);
  };
  const repairArguments = (target: JsonObject, absent: string | undefined) => {
    if (typeof target.arguments === "string") return;
    if (target.arguments !== undefined && target.arguments !== null)
      setField(target, "arguments", JSON.stringify(target.arguments));
    else if (absent !== undefined) setField(target, "arguments", absent);
  };
  const clearFields = (target: JsonObject, ...fields: readonly string[]) => {
    for (const field of fields)
      if (target[field] !== undefined && target[field] !== null) setField(target, field, null);
  };

  const repairChatMessage = (message: JsonObject, whole: boolean) => {
    if (message.role !== undefined && message.role !== "assistant")
      setField(message, "role", "assistant");
    if (typeof message.refusal !== "string") clearFields(message, "refusal");
    clearFields(message, "annotations");
    for (const call of recordsOf(message.tool_calls)) {
      repairText(call, "id");
      repairNumber(call, "index", null);
      if (whole || (call.type !== undefined && call.type !== null))
        setField(call, "type", "function");
      if (isJsonObject(call.function)) repairArguments(call.function, whole ? "" : undefined);
    }
  };
  const repairChat = (choices: readonly unknown[]) => {
    repairText(body, "id");
    repairText(body, "model");
    repairNumber(body, "created", null);
    repairUsage(body, "usage");
    choices.filter(isJsonObject).forEach((choice, position) => {
      if (typeof choice.index !== "number") setField(choice, "index", position);
      repairText(choice, "finish_reason");
      clearFields(choice, "logprobs");
      if (isJsonObject(choice.message)) repairChatMessage(choice.message, true);
      if (isJsonObject(choice.delta)) repairChatMessage(choice.delta, false);
    });
  };

  const repairMessage = (target: JsonObject, required: readonly string[]) => {
    repairText(target, "id");
    repairText(target, "model");
    repairText(target, "stop_reason");
    repairText(target, "stop_sequence");
    repairUsage(target, "usage", required);
    for (const block of recordsOf(target.content)) {
      if (block.type !== "tool_use") continue;
      repairText(block, "id", "");
      if (block.input === undefined) setField(block, "input", {});
    }
  };
  const repairContentBlock = (block: JsonObject) => {
    if (block.type !== "tool_use") return;
    repairText(block, "id", "");
    if (block.input !== undefined && !isJsonObject(block.input)) setField(block, "input", {});
  };

  const repairItem = (target: JsonObject) => {
    if (target.type !== "message" && target.type !== "function_call" && target.type !== "reasoning")
      return;
    repairText(target, "id", "");
    if (target.type === "function_call") {
      repairText(target, "call_id", "");
      repairArguments(target, "");
    }
    if (target.type === "message") setField(target, "role", "assistant");
    for (const part of recordsOf(target.content)) {
      clearFields(part, "logprobs");
      if (
        part.type === "output_text" &&
        (!Array.isArray(part.annotations) || part.annotations.length > 0)
      )
        setField(part, "annotations", []);
    }
  };
  const repairResponse = (target: JsonObject) => {
    repairText(target, "id", "");
    repairText(target, "model", "");
    repairNumber(target, "created_at", 0);
    if (target.created_at === undefined || target.created_at === null)
      setField(target, "created_at", 0);
    if (target.usage !== undefined && target.usage !== null)
      repairUsage(target, "usage", ["input_tokens", "output_tokens"]);
    recordsOf(target.output).forEach(repairItem);
  };

  if (Array.isArray(body.choices)) repairChat(body.choices);
  else if (body.choices === undefined || body.choices === null) {
    if (body.object === "chat.completion.chunk" && isJsonObject(body.usage)) {
      setField(body, "choices", []);
      repairUsage(body, "usage");
    }
  }
  if (body.type === "message" && Array.isArray(body.content))
    repairMessage(body, ["input_tokens", "output_tokens"]);
  if (body.type === "message_start" && isJsonObject(body.message))
    repairMessage(body.message, ["input_tokens"]);
  if (body.type === "message_delta" && isJsonObject(body.delta)) {
    repairText(body.delta, "stop_reason");
    repairUsage(body, "usage", ["output_tokens"]);
  }
  if (isJsonObject(body.content_block)) repairContentBlock(body.content_block);
  if (body.object === "response" && Array.isArray(body.output)) repairResponse(body);
  if (isJsonObject(body.response)) repairResponse(body.response);
  if (isJsonObject(body.item)) repairItem(body.item);
  if (body.type === "response.function_call_arguments.done") repairArguments(body, "");
  if (Array.isArray(body.candidates)) {
    repairText(body, "responseId");
    repairUsage(body, "usageMetadata");
    for (const candidate of recordsOf(body.candidates)) repairText(candidate, "finishReason");
  }
  return changed;
}

function recordsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
