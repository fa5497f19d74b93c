import type { ModelList } from "@beckon/client";

/** Parts of the names of models that do not answer in text. */
const otherPurposes =
  /embed|whisper|tts|speech|dall-e|image|vision-|moderation|audio|realtime|transcribe|rerank|babbage|davinci|sora/i;

/**
 * Returns the model with which the form of a new agent is filled in. This is the newest agent's
 * model, unless it is built in. Otherwise it is the first listed model that seems to answer in
 * text, else the first listed model, else the built-in model.
 * @param newest model of the newest agent; undefined if there is no agent
 */
export function defaultModel(newest: string | undefined, lists: readonly ModelList[]): string {
  const builtIn = lists.find(({ origin }) => origin === "built_in")?.models ?? [];
  if (newest !== undefined && !builtIn.includes(newest)) return newest;
  const others = lists
    .filter(({ origin }) => origin !== "built_in")
    .flatMap(({ models }) => models);
  return (
    others.find((model) => !otherPurposes.test(model)) ?? others[0] ?? builtIn[0] ?? "demo/echo"
  );
}
