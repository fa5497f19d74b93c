import { isJsonObject, type JsonObject } from "../../base/json-object.ts";

/**
 * Repairs the bookkeeping of a model's answer, in whichever format, so that its library does not
 * reject an answer that was paid for: token counts, ids, times, names of models, finish reasons and
 * roles of another type or absent where they are required, log probabilities and annotations, and a
 * call's arguments that are not text. What the model said is never changed.
 *
 * @returns the repaired JSON text; undefined: there was nothing to repair, or it is no JSON.
 */
export function repairAnswer(text: string): string | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  const strict = parse(text);
  const body = strict ?? (/NaN|Infinity/.test(text) ? parse(withoutNotANumber(text)) : undefined);
  if (!isJsonObject(body)) return undefined;
  const repaired = repairBody(body);
  return repaired || strict === undefined ? JSON.stringify(body) : undefined;
}

/** Python writes numbers that JSON does not have. Strings are left as they are. */
function withoutNotANumber(text: string): string {
  return text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|\bNaN\b|-?\bInfinity\b/g, (word) =>
    word.startsWith('"') ? word : "null",
  );
}

/** Not a count, whatever count is added to it: see `reportedUsage`. */
const unreadable = Number.MIN_SAFE_INTEGER;

/** Repairs in place; true: something was changed. */
function repairBody(body: JsonObject): boolean {
  let changed = false;
  const put = (of: JsonObject, member: string, value: unknown) => {
    if (of[member] === value) return;
    of[member] = value;
    changed = true;
  };

  /** `otherwise` takes the place of what is no text, a number or a truth value. */
  const text = (of: JsonObject, member: string, otherwise: string | null | undefined = null) => {
    const value = of[member];
    if (
      typeof value === "string" ||
      value === otherwise ||
      (value === undefined && otherwise === null)
    )
      return;
    put(
      of,
      member,
      typeof value === "number" || typeof value === "boolean" ? String(value) : otherwise,
    );
  };
  const number = (of: JsonObject, member: string, otherwise: unknown) => {
    const value = of[member];
    if (
      value === undefined ||
      value === null ||
      (typeof value === "number" && Number.isFinite(value))
    )
      return;
    const read = typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
    put(of, member, Number.isFinite(read) ? read : otherwise);
  };
  const counts = (of: JsonObject, depth = 0) => {
    if (depth > 3) return;
    for (const [member, value] of Object.entries(of)) {
      if (/tokens$|tokenCount$/i.test(member)) number(of, member, unreadable);
      else if (isJsonObject(value)) counts(value, depth + 1);
      else if (Array.isArray(value)) for (const each of recordsOf(value)) counts(each, depth + 1);
      else if (/details$/i.test(member)) put(of, member, null);
    }
  };
  const usage = (of: JsonObject, member: string, required: readonly string[] = []) => {
    const value = of[member];
    if (isJsonObject(value)) counts(value);
    else if (required.length > 0) put(of, member, {});
    else if (value !== undefined) put(of, member, null);
    const counted = of[member];
    if (isJsonObject(counted))
      for (const name of required)
        if (typeof counted[name] !== "number") put(counted, name, unreadable);
  };
  const callArguments = (of: JsonObject, absent: string | undefined) => {
    if (typeof of.arguments === "string") return;
    if (of.arguments !== undefined && of.arguments !== null)
      put(of, "arguments", JSON.stringify(of.arguments));
    else if (absent !== undefined) put(of, "arguments", absent);
  };
  const unread = (of: JsonObject, ...members: readonly string[]) => {
    for (const member of members)
      if (of[member] !== undefined && of[member] !== null) put(of, member, null);
  };

  const chatMessage = (message: JsonObject, whole: boolean) => {
    if (message.role !== undefined && message.role !== "assistant")
      put(message, "role", "assistant");
    if (typeof message.refusal !== "string") unread(message, "refusal");
    unread(message, "annotations");
    for (const call of recordsOf(message.tool_calls)) {
      text(call, "id");
      number(call, "index", null);
      if (whole || (call.type !== undefined && call.type !== null)) put(call, "type", "function");
      if (isJsonObject(call.function)) callArguments(call.function, whole ? "" : undefined);
    }
  };
  const chat = (choices: readonly unknown[]) => {
    text(body, "id");
    text(body, "model");
    number(body, "created", null);
    usage(body, "usage");
    choices.filter(isJsonObject).forEach((choice, position) => {
      if (typeof choice.index !== "number") put(choice, "index", position);
      text(choice, "finish_reason");
      unread(choice, "logprobs");
      if (isJsonObject(choice.message)) chatMessage(choice.message, true);
      if (isJsonObject(choice.delta)) chatMessage(choice.delta, false);
    });
  };

  const message = (of: JsonObject, required: readonly string[]) => {
    text(of, "id");
    text(of, "model");
    text(of, "stop_reason");
    text(of, "stop_sequence");
    usage(of, "usage", required);
    for (const block of recordsOf(of.content)) {
      if (block.type !== "tool_use") continue;
      text(block, "id", "");
      if (block.input === undefined) put(block, "input", {});
    }
  };
  const contentBlock = (block: JsonObject) => {
    if (block.type !== "tool_use") return;
    text(block, "id", "");
    if (block.input !== undefined && !isJsonObject(block.input)) put(block, "input", {});
  };

  const item = (of: JsonObject) => {
    if (of.type !== "message" && of.type !== "function_call" && of.type !== "reasoning") return;
    text(of, "id", "");
    if (of.type === "function_call") {
      text(of, "call_id", "");
      callArguments(of, "");
    }
    if (of.type === "message") put(of, "role", "assistant");
    for (const part of recordsOf(of.content)) {
      unread(part, "logprobs");
      if (
        part.type === "output_text" &&
        (!Array.isArray(part.annotations) || part.annotations.length > 0)
      )
        put(part, "annotations", []);
    }
  };
  const response = (of: JsonObject) => {
    text(of, "id", "");
    text(of, "model", "");
    number(of, "created_at", 0);
    if (of.created_at === undefined || of.created_at === null) put(of, "created_at", 0);
    if (of.usage !== undefined && of.usage !== null)
      usage(of, "usage", ["input_tokens", "output_tokens"]);
    recordsOf(of.output).forEach(item);
  };

  if (Array.isArray(body.choices)) chat(body.choices);
  else if (body.choices === undefined || body.choices === null) {
    if (body.object === "chat.completion.chunk" && isJsonObject(body.usage)) {
      put(body, "choices", []);
      usage(body, "usage");
    }
  }
  if (body.type === "message" && Array.isArray(body.content))
    message(body, ["input_tokens", "output_tokens"]);
  if (body.type === "message_start" && isJsonObject(body.message))
    message(body.message, ["input_tokens"]);
  if (body.type === "message_delta" && isJsonObject(body.delta)) {
    text(body.delta, "stop_reason");
    usage(body, "usage", ["output_tokens"]);
  }
  if (isJsonObject(body.content_block)) contentBlock(body.content_block);
  if (body.object === "response" && Array.isArray(body.output)) response(body);
  if (isJsonObject(body.response)) response(body.response);
  if (isJsonObject(body.item)) item(body.item);
  if (body.type === "response.function_call_arguments.done") callArguments(body, "");
  if (Array.isArray(body.candidates)) {
    text(body, "responseId");
    usage(body, "usageMetadata");
    for (const candidate of recordsOf(body.candidates)) text(candidate, "finishReason");
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
