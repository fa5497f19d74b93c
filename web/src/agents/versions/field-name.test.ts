import { expect, test } from "vitest";
import { fieldName } from "./field-name.ts";

test.each([
  ["/model", "Model"],
  ["/limits/max_steps", "Maximum steps"],
  ["/limits/max_cost_micros", "Maximum cost of a run"],
  ["/model_settings/reasoning_effort", "Reasoning effort"],
  ["/tools/0", "Tool 1"],
  ["/tools/0/operations/1/url", "Tool 1 › Operation 2 › URL"],
  ["/tools/0/headers/x-a~1b", "Tool 1 › Headers › x-a/b"],
  ["/metadata/team", "Metadata › team"],
  ["/metadata/constructor", "Metadata › constructor"],
])("%s is named %s", (pointer, name) => {
  expect(fieldName(pointer)).toBe(name);
});
