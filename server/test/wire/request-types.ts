import type { MessageCreateParams } from "@anthropic-ai/sdk/resources/messages";
import type { GenerateContentParameters } from "@google/genai";
import type { ChatCompletionCreateParams } from "openai/resources/chat/completions";
import type { ResponseCreateParams } from "openai/resources/responses/responses";

/** What the providers' own packages take for a request, by the kind of provider. */
export interface RequestTypes {
  readonly openai: ResponseCreateParams;
  readonly "openai-chat": ChatCompletionCreateParams;
  readonly anthropic: MessageCreateParams;
  readonly google: Json<GenerateContentParameters>;
}

/** JSON holds an enum's text, where the package's type wants the enum itself. */
type Json<T> = T extends string
  ? `${T}`
  : T extends readonly (infer U)[]
    ? Json<U>[]
    : T extends object
      ? { [K in keyof T]: Json<T[K]> }
      : T;
