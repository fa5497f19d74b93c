import { expect, test } from "vitest";
import { agentResolver } from "./agent-fields.ts";
import { templates } from "./templates.ts";

test("an address without a scheme gets the error of an address, not of a host", async () => {
  const template = templates.find(({ api }) => api !== undefined);
  const fields = {
    name: "Desk",
    model: "demo/echo",
    instructions: "",
    url: "api.example.com/orders/{order_id}",
    apiKey: "",
  };
  const options = { fields: {}, shouldUseNativeValidation: false };
  const { errors } = await agentResolver(template)(fields, undefined, options);
  expect(errors).toMatchObject({ url: { message: expect.stringMatching(/http or https URL/) } });
});
