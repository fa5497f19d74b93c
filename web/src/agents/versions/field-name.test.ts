import { expect, test } from "vitest";
import { fieldName } from "./field-name.ts";

test.each([
  ["/model", "Model"],
  ["/provider_id", "Provider"],
  ["/limits/max_steps", "Steps"],
  ["/limits/max_cost_micros", "Cost of a run"],
  ["/limits/max_answer_bytes", "Size of a model response"],
  ["/model_settings/reasoning_effort", "Reasoning effort"],
  ["/tools/0", "Tool 1"],
  ["/tools/0/max_response_bytes", "Tool 1 › Size of a response"],
  ["/tools/0/allowed_hosts/1", "Tool 1 › Allowed host 2"],
  ["/tools/0/operations/1/url", "Tool 1 › Function 2 › URL"],
  ["/tools/0/description", "Tool 1 › Description"],
  ["/tools/0/operations/1/description", "Tool 1 › Function 2 › What it does"],
  ["/tools/0/headers/x-a~1b", "Tool 1 › Headers › x-a/b"],
  ["/tools/0/query/1", "Tool 1 › Query › 1"],
  ["/tools/0/query/name", "Tool 1 › Query › name"],
  [
    "/tools/0/operations/0/parameters/properties/2/enum/0",
    "Tool 1 › Function 1 › Parameters › properties › 2 › enum 1",
  ],
  [
    "/tools/0/operations/0/body/properties/headers/properties/name/type/1",
    "Tool 1 › Function 1 › Body › properties › headers › properties › name › Type 2",
  ],
  ["/metadata/2024", "Metadata › 2024"],
  ["/metadata/name", "Metadata › name"],
  ["/metadata/tools/0", "Metadata › tools › 0"],
  ["/metadata/team", "Metadata › team"],
  ["/metadata/constructor", "Metadata › constructor"],
])("%s is named %s", (pointer, name) => {
  expect(fieldName(pointer)).toBe(name);
});
