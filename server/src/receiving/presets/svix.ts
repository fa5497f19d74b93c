import { definePreset } from "./define-preset.ts";

/** The scheme of Standard Webhooks with the headers that Svix used before there was a standard. */
export const svix = definePreset({
  name: "svix",
  title: "Svix (also Clerk, Resend and others)",
  instructions:
    "In the sender's webhook settings, add an endpoint with the URL, then copy its Signing Secret (whsec_…) and enter it here.",
  url: "https://docs.svix.com/receiving/verifying-payloads/how-manual",
  secret_from: "sender",
  settings: {
    verification: {
      kind: "hmac",
      header: "svix-signature",
      algorithm: "sha256",
      encoding: "base64",
      form: "list",
      prefix: "v1,",
      id: { header: "svix-id" },
      timestamp: { header: "svix-timestamp" },
      signed: ["id", { literal: "." }, "timestamp", { literal: "." }, "body"],
      tolerance_seconds: 300,
      secret_encoding: "whsec",
    },
    event_id: { header: "svix-id" },
    event_type: { pointer: "/type" },
  },
  examples: [
    {
      name: "user.created",
      query: {},
      headers: {
        "content-type": "application/json",
        "user-agent": "Svix-Webhooks/1.84.0 (sender-9YMgn; +https://www.svix.com/http-sender/)",
        "svix-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "svix-timestamp": "1614265330",
      },
      body: JSON.stringify({
        data: {
          id: "user_29w83sxmDNGwOuEthce5gg56FcC",
          first_name: "Example",
          last_name: "Example",
          email_addresses: [{ email_address: "example@example.org" }],
          created_at: 1_654_012_591_514,
        },
        object: "event",
        type: "user.created",
      }),
    },
  ],
});
