import type { Trigger } from "@beckon/client";
import { receiving } from "@beckon/contract";
import { expect, test } from "vitest";
import { afterSave } from "./after-save.ts";
import { draftOf } from "./draft.ts";

const trigger = (version: string, settings: object): Trigger =>
  ({ version, prompt_prefix: "", receiving: receiving.parse(settings) }) as Trigger;

test("what is typed during a save of a trigger is based on what the person has seen", () => {
  const base = trigger("a", { filter: "true", template: "Old" });
  const shown = draftOf("", base.receiving);
  const sent = { ...shown, filter: "false" };
  const saved = trigger("c", { filter: "false", template: "Theirs", max_per_minute: 60 });
  const edited = { base, draft: { ...sent, template: "Mine" } };
  const next = afterSave(edited, saved, sent);
  const seen = { filter: "false", template: "Old", max_per_minute: 60 };
  expect(next?.base).toEqual(trigger("a", seen));
  expect(next?.draft).toEqual(draftOf("", receiving.parse({ ...seen, template: "Mine" })));
  const alone = trigger("b", { filter: "false", template: "Old" });
  expect(afterSave(edited, alone, sent)).toEqual({ base: alone, draft: edited.draft });
  expect(afterSave({ base, draft: sent }, saved, sent)).toBeUndefined();
});
