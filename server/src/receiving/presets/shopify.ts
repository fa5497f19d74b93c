import { definePreset } from "./define-preset.ts";

export const shopify = definePreset({
  name: "shopify",
  title: "Shopify",
  instructions:
    "In the store's Settings → Notifications → Webhooks → Create webhook, choose the format JSON, enter the URL, then copy the key below the list of webhooks (of an app: its client secret) and enter it here.",
  url: "https://shopify.dev/docs/apps/build/webhooks/subscribe/https",
  secret_from: "sender",
  settings: {
    verification: {
      kind: "hmac",
      header: "x-shopify-hmac-sha256",
      algorithm: "sha256",
      encoding: "base64",
      signed: ["body"],
    },
    // X-Shopify-Event-Id is the same for all topics that one action concerns, so a trigger with
    // several topics would treat the second request as a repetition of the first.
    event_id: { header: "x-shopify-webhook-id" },
    event_type: { header: "x-shopify-topic" },
    headers: ["x-shopify-topic", "x-shopify-shop-domain"],
  },
  examples: [
    {
      name: "orders/create",
      query: {},
      headers: {
        "content-type": "application/json",
        "user-agent": "Shopify-Captain-Hook",
        "x-shopify-api-version": "2026-01",
        "x-shopify-event-id": "98880550-7158-44d4-b7cd-2c97c8a091b5",
        "x-shopify-shop-domain": "example.myshopify.com",
        "x-shopify-test": "false",
        "x-shopify-topic": "orders/create",
        "x-shopify-triggered-at": "2026-01-05T18:00:27.877041743Z",
        "x-shopify-webhook-id": "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043",
      },
      // A string, because an object literal could not contain the ids, which are above 2^53.
      body:
        '{"id":820982911946154508,"admin_graphql_api_id":"gid://shopify/Order/820982911946154508",' +
        '"created_at":"2026-01-05T13:00:27-05:00","currency":"USD","email":"jon@example.com",' +
        '"financial_status":"voided","fulfillment_status":"pending","name":"#9999",' +
        '"total_price":"404.95","line_items":[{"id":866550311766439020,' +
        '"title":"IPod Nano - 8GB","quantity":1,"price":"199.00"}]}',
    },
  ],
});
