import { expect, test } from "vitest";
import { currentChoice, exampleChoice, trialOf, withChosen } from "./trial.ts";

type Preset = NonNullable<Parameters<typeof trialOf>[1]>;

const preset = (name: string, ...examples: string[]) =>
  ({ name, examples: examples.map((example) => ({ name: example })) }) as unknown as Preset;
const github = preset("github", "Issue opened", "Push");
const gitlab = preset("gitlab", "Push", "Merge request");
const own = { type: "json", text: "{}", headers: "" } as const;

test("a chosen example is not kept for another sender", () => {
  const [, push] = github.examples;
  if (push === undefined) throw new Error("unreachable");
  const chosen = exampleChoice(github, push);
  expect(currentChoice(chosen, [], github)).toBe(chosen);
  expect(trialOf(chosen, github, own)).toEqual({ example: { preset: "github", name: "Push" } });
  const [first] = gitlab.examples;
  if (first === undefined) throw new Error("unreachable");
  expect(currentChoice(chosen, [], gitlab)).toBe(exampleChoice(gitlab, first));
  expect(currentChoice(chosen, [{ id: "req_1" }], gitlab)).toBe("request:req_1");
  expect(currentChoice(chosen, [], undefined)).toBe("own");
  expect(trialOf(chosen, gitlab, own)).toBeUndefined();
});

test("a chosen request is kept for another sender", () => {
  expect(currentChoice("request:req_2", [{ id: "req_1" }], gitlab)).toBe("request:req_2");
  expect(currentChoice("own", [{ id: "req_1" }], gitlab)).toBe("own");
});

test("an older request that was chosen stays an option, and is not taken for the last request", () => {
  const [last, older] = [{ id: "req_2" }, { id: "req_1" }];
  const offered = withChosen([last], older, undefined, older, last);
  expect(offered).toEqual([last, older]);
  expect(currentChoice("example:github/Push", offered, gitlab)).toBe("request:req_2");
});
