import type { ModelList } from "@beckon/client";

/** Parts of the names of models that do not answer in text. */
const otherPurposes =
  /embed|whisper|tts|speech|dall-e|image|vision-|moderation|audio|realtime|transcribe|rerank|babbage|davinci|sora/i;

/**
 * Returns the model with which the form of a new agent is filled in. This is the newest agent's
 * model, unless it is built in. Otherwise it is the preferred model of the other lists, else the
 * built-in model.
 * @param newest model of the newest agent; undefined if there is no agent
 */
export function defaultModel(newest: string | undefined, lists: readonly ModelList[]): string {
  const builtIn = lists.find(({ origin }) => origin === "built_in")?.models ?? [];
  if (newest !== undefined && !builtIn.includes(newest)) return newest;
  const others = preferredLists(lists).flatMap(({ models }) => models);
  return preferredModel(others) ?? builtIn[0] ?? "demo/echo";
}

/**
 * Returns the first model that seems to answer in text, else the first model; undefined if there is
 * none.
 */
export function preferredModel(models: readonly string[]): string | undefined {
  return models.find((model) => !otherPurposes.test(model)) ?? models[0];
}

/**
 * Returns the lists without the built-in one. That of `isChatCompletions` is the last one, because
 * `openai` has the same models.
 */
export function preferredLists(lists: readonly ModelList[]): readonly ModelList[] {
  return lists
    .filter(({ origin }) => origin !== "built_in")
    .toSorted((one, other) => Number(isChatCompletions(one)) - Number(isChatCompletions(other)));
}

/**
 * Returns whether the list is that of the operator's account of `openai`, called by Chat
 * Completions. Its models then lose their reasoning between two steps.
 */
export function isChatCompletions({ provider, origin }: ModelList): boolean {
  return provider === "openai-chat" && origin === "environment";
}
