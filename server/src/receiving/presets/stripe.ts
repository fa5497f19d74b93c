import { definePreset } from "./define-preset.ts";

export const stripe = definePreset({
  name: "stripe",
  title: "Stripe",
  instructions:
    "In Stripe's Workbench → Webhooks → Add destination, enter the URL as Endpoint URL, then copy the Signing secret (whsec_…) and enter it here.",
  url: "https://docs.stripe.com/webhooks#verify-manually",
  secret_from: "sender",
  settings: {
    verification: {
      kind: "hmac",
      header: "stripe-signature",
      algorithm: "sha256",
      encoding: "hex",
      form: "pairs",
      prefix: "v1",
      timestamp: { pair: "t" },
      signed: ["timestamp", { literal: "." }, "body"],
      tolerance_seconds: 300,
      // Stripe's HMAC key is the text of the whole secret, including its prefix whsec_.
      secret_encoding: "text",
    },
    event_id: { pointer: "/id" },
    event_type: { pointer: "/type" },
  },
  examples: [
    {
      name: "payment_intent.succeeded",
      query: {},
      headers: {
        "content-type": "application/json; charset=utf-8",
        "user-agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
      },
      // Stripe indents its bodies, so this example is indented too.
      body: JSON.stringify(
        {
          id: "evt_3PgafmB7WZ01zgkW0pKe5XnL",
          object: "event",
          api_version: "2025-09-30.clover",
          created: 1_721_990_400,
          data: {
            object: {
              id: "pi_3PgafmB7WZ01zgkW0k3gFn5O",
              object: "payment_intent",
              amount: 2_000,
              amount_received: 2_000,
              currency: "usd",
              customer: "cus_QXg1o8vcGmoR32",
              description: "(created by Stripe CLI)",
              metadata: {},
              status: "succeeded",
            },
          },
          livemode: false,
          pending_webhooks: 1,
          request: { id: "req_6lWK8Ekr8Wx2eX", idempotency_key: null },
          type: "payment_intent.succeeded",
        },
        null,
        2,
      ),
    },
  ],
});
