import { definePreset } from "./define-preset.ts";

export const standardWebhooks = definePreset({
  name: "standard-webhooks",
  title: "Standard Webhooks",
  instructions:
    "In the settings of the sender, add an endpoint with the URL, then copy its signing secret (whsec_…) and enter it here.",
  url: "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
  secret_from: "sender",
  settings: {
    verification: {
      kind: "hmac",
      header: "webhook-signature",
      algorithm: "sha256",
      encoding: "base64",
      form: "list",
      prefix: "v1,",
      id: { header: "webhook-id" },
      timestamp: { header: "webhook-timestamp" },
      signed: ["id", { literal: "." }, "timestamp", { literal: "." }, "body"],
      tolerance_seconds: 300,
      secret_encoding: "whsec",
    },
    event_id: { header: "webhook-id" },
    event_type: { pointer: "/type" },
  },
  examples: [
    {
      name: "contact.created",
      query: {},
      headers: {
        "content-type": "application/json",
        "webhook-id": "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W",
        "webhook-timestamp": "1674087231",
      },
      body: JSON.stringify({
        type: "contact.created",
        timestamp: "2022-11-03T20:26:10.344522Z",
        data: {
          id: "1f81eb52-5198-4599-803e-771906343485",
          type: "contact",
          name: "John Smith",
          email: "john@example.com",
        },
      }),
    },
  ],
});
