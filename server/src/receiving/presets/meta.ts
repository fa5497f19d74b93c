import { definePreset } from "./define-preset.ts";

export const meta = definePreset({
  name: "meta",
  title: "Meta (WhatsApp, Messenger, Instagram)",
  instructions:
    "First copy the App Secret from the app's App settings → Basic at developers.facebook.com and enter it here, then enter the URL as Callback URL and the verify token as Verify token in the product's webhook configuration.",
  url: "https://developers.facebook.com/docs/graph-api/webhooks/getting-started",
  secret_from: "sender",
  settings: {
    verification: {
      kind: "hmac",
      header: "x-hub-signature-256",
      algorithm: "sha256",
      encoding: "hex",
      prefix: "sha256=",
      signed: ["body"],
    },
    handshake: "meta",
    // Meta sends no id for a request, and a request can contain several changes.
    event_id: null,
    event_type: { pointer: "/object" },
  },
  examples: [
    {
      name: "WhatsApp message",
      query: {},
      headers: {
        "content-type": "application/json",
        "user-agent": "facebookexternalua",
      },
      body: JSON.stringify({
        object: "whatsapp_business_account",
        entry: [
          {
            id: "102290129340398",
            changes: [
              {
                value: {
                  messaging_product: "whatsapp",
                  metadata: {
                    display_phone_number: "15550783881",
                    phone_number_id: "106540352242922",
                  },
                  contacts: [{ profile: { name: "Sheena Nelson" }, wa_id: "16505551234" }],
                  messages: [
                    {
                      from: "16505551234",
                      id: "wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQzQTRBNjU5OUFFRTAzODEwMTQ0RgA=",
                      timestamp: "1749416383",
                      type: "text",
                      text: { body: "Does it come in another color?" },
                    },
                  ],
                },
                field: "messages",
              },
            ],
          },
        ],
      }),
    },
  ],
});
