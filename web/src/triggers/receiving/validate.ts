import { createTriggerBody, type Receiving, receiving } from "@beckon/contract";
import { messageOf, wording } from "../../data/form/form-messages.ts";
import { type Draft, receivingOf } from "./draft.ts";

/** The result of checking a draft: the settings to send, or a message for each invalid API path. */
export type Checked =
  | { readonly settings: { receiving: Receiving | null; prompt_prefix: string } }
  | { readonly problems: ReadonlyMap<string, string> };

const prefix = createTriggerBody.pick({ prompt_prefix: true });

/** Checks the settings as they are typed. */
export function check(draft: Draft): Checked {
  const given = receivingOf(draft);
  const parsed = receiving.nullable().safeParse(given, { error: wording });
  const text = prefix.safeParse({ prompt_prefix: draft.promptPrefix }, { error: wording });
  if (parsed.success && text.success)
    return { settings: { receiving: parsed.data, prompt_prefix: text.data.prompt_prefix } };
  const issues = [...(parsed.error?.issues ?? []), ...(text.error?.issues ?? [])];
  const problems = new Map<string, string>();
  for (const { path, message } of issues) {
    // The form shows a problem of a list's item at the whole list, so the indexes are removed from
    // the path.
    const names = path.filter((part) => typeof part === "string").join(".");
    if (!problems.has(names)) problems.set(names, messageOf({ message }) ?? message);
  }
  return { problems };
}

/** Returns the first problem with its path in the API; undefined if there is none. */
export function firstProblemIn(problems: ReadonlyMap<string, string>): string | undefined {
  const [first] = problems;
  return first === undefined ? undefined : `${first[0]}: ${first[1]}`;
}

/** Returns the first problem at a path or below it; undefined if there is none. */
export function problemAt(problems: ReadonlyMap<string, string>, path: string): string | undefined {
  const found = [...problems].find(([at]) => at === path || at.startsWith(`${path}.`));
  return found?.[1];
}
