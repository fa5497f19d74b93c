import { APICallError } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { createEgress, EgressDenied } from "../../base/egress/index.ts";
import { openAICompatibleModel } from "../models/openai-compatible.ts";
import { transportFailure } from "./transport-failure.ts";

const limits = {
  connectTimeoutMs: 1_000,
  headersTimeoutMs: 1_000,
  bodyTimeoutMs: 1_000,
  totalTimeoutMs: 1_000,
};

test.each(["doGenerate", "doStream"] as const)(
  "a model at an address that egress rejects is not called again: %s",
  async (call) => {
    const egress = createEgress({ ...limits, allow: [] });
    const model = openAICompatibleModel({
      name: "scripted",
      baseUrl: "http://127.0.0.1:9999/v1",
      modelId: "m",
      transport: egress,
    });
    const thrown: unknown = await Promise.resolve(
      model[call]({ prompt: [{ role: "user", content: [{ type: "text", text: "hello" }] }] }),
    ).catch((error: unknown) => error);
    expect(transportFailure(thrown)).toMatchObject({
      retryable: false,
      message: expect.stringMatching(/^(?!.*127).*not a public.*BECKON_EGRESS_ALLOW\.$/),
    });
    await egress.close();
  },
);

test("an egress error is found among the causes of a client's error", () => {
  const cause = new EgressDenied("not public");
  const wrapped = new APICallError({
    message: "Cannot connect to API",
    url: "",
    requestBodyValues: {},
    cause,
    isRetryable: true,
  });
  expect(transportFailure(wrapped)).toMatchObject({ retryable: false });
});

test("a call that exceeded its total timeout is retryable", () => {
  const error = Object.assign(new Error("the call took longer than 5 ms"), {
    code: "BECKON_TOTAL_TIMEOUT",
  });
  expect(transportFailure(error)).toMatchObject({ retryable: true, kind: "timeout" });
});
