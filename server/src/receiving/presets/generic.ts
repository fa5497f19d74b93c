import type { ExampleRequest } from "@beckon/contract";
import { definePreset } from "./define-preset.ts";

/**
 * Presets for senders without a preset of their own: one for each kind of verification, except the
 * kind that only Twilio uses.
 */

const example: ExampleRequest = {
  name: "order",
  query: {},
  headers: { "content-type": "application/json", "user-agent": "example/1.0" },
  body: JSON.stringify({ id: "ord_1001", type: "order.created", total: "19.99" }),
};

export const hmac = definePreset({
  name: "hmac",
  title: "HMAC signature",
  instructions:
    "Enter the URL and the secret in the sender's settings, and set here in which header and form the sender signs the body.",
  url: "https://www.rfc-editor.org/rfc/rfc2104",
  secret_from: "receiver",
  settings: {
    verification: {
      kind: "hmac",
      header: "x-signature",
      algorithm: "sha256",
      encoding: "hex",
      signed: ["body"],
    },
  },
  examples: [example],
});

export const secretHeader = definePreset({
  name: "secret-header",
  title: "Secret header",
  instructions:
    "Enter the URL in the sender's settings, and let it send the header Authorization with Bearer, a space and the secret, or another header that you set here.",
  url: "https://www.rfc-editor.org/rfc/rfc6750#section-2.1",
  secret_from: "receiver",
  settings: { verification: { kind: "header", header: "authorization", prefix: "Bearer " } },
  examples: [example],
});

export const basic = definePreset({
  name: "basic",
  title: "Basic authentication",
  instructions:
    "Enter the URL in the sender's settings, and the two parts of the secret as user and password.",
  url: "https://www.rfc-editor.org/rfc/rfc7617",
  secret_from: "receiver",
  settings: { verification: { kind: "basic" } },
  examples: [example],
});

export const none = definePreset({
  name: "none",
  title: "No verification",
  instructions: "Enter the URL in the sender's settings; everyone who has it can send.",
  url: null,
  secret_from: "none",
  settings: { verification: { kind: "none" } },
  examples: [
    example,
    {
      name: "form",
      query: {},
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "name=Ada+Lovelace&email=ada%40example.com&message=Hello",
    },
  ],
});
