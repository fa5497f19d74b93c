import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import { isJSONObject, isJSONValue } from "@ai-sdk/provider";
import type { AnswerPart, NewEvent } from "@beckon/contract";
import { answeredSteps, callsOf, resultsByCall, type Step, type ToolResult } from "./history.ts";
import { parseArguments } from "./tool-call/index.ts";

/**
 * What the model is shown next: the instructions, the input, then each answered step with the results of its calls. Built
 * from the journal alone, so that a run that changed its process shows the model the same conversation: byte for byte if the
 * journal gives back what it was given, which is what a provider's prompt cache goes by.
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
  return [...opening, ...answeredSteps(entries).flatMap((step) => turn(step, results))];
}

function turn(step: Step, results: ReadonlyMap<string, ToolResult>): LanguageModelV4Message[] {
  const answered = callsOf(step).flatMap((call) => results.get(call.call_id) ?? []);
  const messages: LanguageModelV4Message[] = [
    { role: "assistant", content: step.parts.filter(saysSomething).map(assistantPart) },
  ];
  if (answered.length > 0) messages.push({ role: "tool", content: answered.map(toolResult) });
  return messages;
}

/** Anthropic refuses an empty text; one that carries a signature is to be handed back all the same. */
function saysSomething(part: AnswerPart): boolean {
  return part.type !== "text" || part.text !== "" || part.provider_metadata !== undefined;
}

function assistantPart(part: AnswerPart) {
  const providerOptions = metadataToHandBack(part.provider_metadata);
  switch (part.type) {
    case "text":
      return { type: "text" as const, text: part.text, ...providerOptions };
    case "reasoning":
      return { type: "reasoning" as const, text: part.text, ...providerOptions };
    case "tool_call": {
      const parsed = parseArguments(part.arguments);
      // Text that is no JSON goes back as it came: the model should see its own mistake beside our refusal.
      const input = parsed.ok ? parsed.value : part.arguments;
      return {
        type: "tool-call" as const,
        toolCallId: part.call_id,
        toolName: part.tool,
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
      : { type: failed ? ("error-json" as const) : ("json" as const), value: result };
  return { type: "tool-result", toolCallId: call_id, toolName: tool, output };
}

/** What a provider attached to its own words (a reasoning signature, say) is what it wants back with them. */
function metadataToHandBack(metadata: unknown): { providerOptions?: SharedV4ProviderOptions } {
  if (!isJSONObject(metadata)) return {};
  const byProvider = Object.entries(metadata).flatMap(([provider, options]) =>
    isJSONObject(options) ? [[provider, options] as const] : [],
  );
  return byProvider.length === 0 ? {} : { providerOptions: Object.fromEntries(byProvider) };
}
