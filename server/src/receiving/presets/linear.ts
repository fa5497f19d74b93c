import { definePreset } from "./define-preset.ts";

export const linear = definePreset({
  name: "linear",
  title: "Linear",
  instructions:
    "In Linear's Settings → API → Webhooks → New webhook, enter the URL, then copy the Signing secret from the webhook's page and enter it here.",
  url: "https://linear.app/developers/webhooks",
  secret_from: "sender",
  settings: {
    verification: {
      kind: "hmac",
      header: "linear-signature",
      algorithm: "sha256",
      encoding: "hex",
      signed: ["body"],
      timestamp: { pointer: "/webhookTimestamp" },
      // Linear retries after 1 minute, 1 hour and 6 hours, with the same body and so with the same
      // timestamp: the 60 seconds that its documentation recommends would reject every retry. A
      // retry of a request that has started a run starts no second one: its event id is known. But
      // the id is in a header that is not signed, so who has a copy of a request can send it with
      // other ids for this time.
      tolerance_seconds: 28_800,
    },
    event_id: { header: "linear-delivery" },
    event_type: { header: "linear-event" },
  },
  examples: [
    {
      name: "Issue created",
      query: {},
      headers: {
        "content-type": "application/json; charset=utf-8",
        "user-agent": "Linear-Webhook",
        "linear-delivery": "234d1a4e-b617-4388-90fe-adc3633d6b72",
        "linear-event": "Issue",
        "linear-timestamp": "1767643227877",
      },
      body: JSON.stringify({
        action: "create",
        type: "Issue",
        actor: {
          id: "b5ea5f1f-8adc-4f52-b4bd-ab4e84cf51ba",
          type: "user",
          name: "Jane Doe",
          email: "jane@example.com",
        },
        createdAt: "2026-01-05T20:00:27.000Z",
        data: {
          id: "539068e2-ae88-4d09-bd75-22eb4a59612f",
          identifier: "ENG-123",
          title: "Login page shows an error after the update",
          priority: 2,
          teamId: "72b2a2dc-6f4f-4423-9d34-24b5bd10634a",
          state: { name: "Todo", type: "unstarted" },
          labels: [{ name: "Bug" }],
        },
        url: "https://linear.app/example/issue/ENG-123",
        organizationId: "56e9c0e5-7a0e-4a2b-8a0a-6a8e8f0d3a0c",
        webhookTimestamp: 1_767_643_227_877,
        webhookId: "000042e3-d123-4980-b49f-8e140eef9329",
      }),
    },
  ],
});
