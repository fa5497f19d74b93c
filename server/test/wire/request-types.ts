import type { MessageCreateParams } from "@anthropic-ai/sdk/resources/messages";
import type { GenerateContentParameters } from "@google/genai";
import type { ChatCompletionCreateParams } from "openai/resources/chat/completions";
import type { ResponseCreateParams } from "openai/resources/responses/responses";

/** The request types of the providers' own packages, by provider kind. */
export interface RequestTypes {
  readonly openai: ResponseCreateParams;
  readonly "openai-chat": ChatCompletionCreateParams;
  readonly anthropic: MessageCreateParams;
  readonly google: Json<GenerateContentParameters>;
}

/** Replaces enums by their strings: the packages' types have enums, and JSON has strings. */
type Json<T> = T extends string
  ? `${T}`
  : T extends readonly (infer U)[]
    ? Json<U>[]
    : T extends object
      ? { [K in keyof T]: Json<T[K]> }
      : T;
