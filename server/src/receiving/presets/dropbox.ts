import { definePreset } from "./define-preset.ts";

export const dropbox = definePreset({
  name: "dropbox",
  title: "Dropbox",
  instructions:
    "First copy the App secret from the app's Settings at dropbox.com/developers/apps and enter it here, then enter the URL as Webhook URI in the same Settings, which Dropbox verifies at once.",
  url: "https://www.dropbox.com/developers/reference/webhooks",
  secret_from: "sender",
  settings: {
    verification: {
      kind: "hmac",
      header: "x-dropbox-signature",
      algorithm: "sha256",
      encoding: "hex",
      signed: ["body"],
    },
    handshake: "dropbox",
    // Dropbox's requests only name the accounts that changed; they have neither an id nor a type.
    event_id: null,
    event_type: null,
  },
  examples: [
    {
      name: "files changed",
      query: {},
      headers: {
        "content-type": "application/json",
        "user-agent": "DropboxWebhooks/1.0",
      },
      body: JSON.stringify({
        list_folder: {
          accounts: [
            "dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc",
            "dbid:AAGx4oiLtHdvRdNxUpvvJBXYgR4BS19c9kw",
          ],
        },
        delta: { users: [12_345_678, 23_456_789] },
      }),
    },
  ],
});
