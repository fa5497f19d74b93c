import type {
  JSONValue,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import { isJSONObject, isJSONValue } from "@ai-sdk/provider";
import type { AnswerPart, NewEvent } from "@beckon/contract";
import { isRawNumber } from "../base/json/index.ts";
import { answeredSteps, callsOf, resultsByCall, type Step, type ToolResult } from "./history.ts";
import { parseArguments } from "./tool-call/index.ts";

/**
 * Returns the prompt of the next model call: the instructions, the input, and each answered step
 * with its tool results.
 *
 * The prompt is built only from the arguments and the journal. A run that moved to another process
 * therefore sends the same bytes again, and the provider's prompt cache still matches.
 */
export function conversation(
  instructions: string,
  input: string,
  entries: readonly NewEvent[],
): LanguageModelV4Prompt {
  const results = resultsByCall(entries);
  const opening: LanguageModelV4Message[] = [
    { role: "user", content: [{ type: "text", text: input }] },
  ];
  if (instructions.trim() !== "") opening.unshift({ role: "system", content: instructions });
  return [...opening, ...answeredSteps(entries).flatMap((step) => messagesOf(step, results))];
}

function messagesOf(
  step: Step,
  results: ReadonlyMap<string, ToolResult>,
): LanguageModelV4Message[] {
  const answered = callsOf(step).flatMap((call) => results.get(call.call_id) ?? []);
  const messages: LanguageModelV4Message[] = [
    { role: "assistant", content: step.parts.filter(hasContent).map(assistantPart) },
  ];
  if (answered.length > 0) messages.push({ role: "tool", content: answered.map(toolResult) });
  return messages;
}

/**
 * Returns whether a part is sent back to the provider. Blank text is not sent, because Anthropic
 * rejects it, although its models write it before tool calls. A blank part with metadata is sent,
 * because the metadata can contain a signature that the provider requires.
 */
function hasContent(part: AnswerPart): boolean {
  return part.type !== "text" || part.text.trim() !== "" || part.provider_metadata !== undefined;
}

function assistantPart(part: AnswerPart) {
  const providerOptions = providerOptionsFrom(part.provider_metadata);
  switch (part.type) {
    case "text":
      return { type: "text" as const, text: part.text, ...providerOptions };
    case "reasoning":
      return { type: "reasoning" as const, text: part.text, ...providerOptions };
    case "tool_call": {
      const parsed = parseArguments(part.arguments);
      // Invalid JSON is sent back unchanged, so that the model sees its mistake next to Beckon's
      // error message.
      const input = parsed.ok ? parsed.value : part.arguments;
      return {
        type: "tool-call" as const,
        toolCallId: part.call_id,
        toolName: acceptedName(part.tool),
        input,
        ...providerOptions,
      };
    }
  }
}

function toolResult({ call_id, tool, outcome, result }: ToolResult): LanguageModelV4ToolResultPart {
  const failed = outcome !== "ok";
  const output =
    typeof result === "string" || !isJSONValue(result)
      ? { type: failed ? ("error-text" as const) : ("text" as const), value: String(result) }
      : { type: failed ? ("error-json" as const) : ("json" as const), value: canonical(result) };
  return { type: "tool-result", toolCallId: call_id, toolName: acceptedName(tool), output };
}

/**
 * Returns the name of a called tool in a form that every provider accepts. The model can invent a
 * name such as `functions.search`. The call gets an error as its result, but OpenAI would also
 * reject each later request that repeats the name. Names of tools that exist do not change.
 */
function acceptedName(tool: string): string {
  const name = tool.slice(0, 64).replace(/[^a-zA-Z0-9_-]/g, "_");
  return /^[a-zA-Z_]/.test(name) ? name : `_${name}`.slice(0, 64);
}

/**
 * Returns the value with sorted keys and ordinary numbers, so that a resumed run sends the same
 * bytes. Without this, they would differ: the database changes the order of keys, and returns 1e21
 * as an integer, which Beckon reads as a raw number.
 */
function canonical(value: JSONValue): JSONValue {
  if (typeof value !== "object" || value === null) return value;
  if (isRawNumber(value)) return Number(value.rawJSON);
  if (Array.isArray(value)) return value.map(canonical);
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, canonical(field ?? null)]));
}

/**
 * Returns the metadata of an answer as options of the next call. Providers require, for example,
 * that reasoning signatures are sent back.
 */
function providerOptionsFrom(metadata: unknown): { providerOptions?: SharedV4ProviderOptions } {
  if (!isJSONObject(metadata)) return {};
  const byProvider = Object.entries(metadata).flatMap(([provider, options]) =>
    isJSONObject(options) ? [[provider, options] as const] : [],
  );
  return byProvider.length === 0 ? {} : { providerOptions: Object.fromEntries(byProvider) };
}
