import { definePreset } from "./define-preset.ts";

export const twilio = definePreset({
  name: "twilio",
  title: "Twilio",
  instructions:
    "In the Twilio Console, open the phone number or messaging service, enter the URL where “A message comes in” (HTTP POST), then copy the account's Auth Token from the Console's start page, or the secret of the SharedKey if a Webhooks Rule applies to this URL, and enter it here.",
  url: "https://www.twilio.com/docs/usage/webhooks/webhooks-security",
  secret_from: "sender",
  settings: {
    verification: { kind: "twilio" },
    event_id: { header: "i-twilio-idempotency-token" },
    event_type: { pointer: "/SmsStatus" },
  },
  examples: [
    {
      name: "incoming message",
      query: {},
      headers: {
        "content-type": "application/x-www-form-urlencoded; charset=UTF-8",
        "user-agent": "TwilioProxy/1.1",
        "i-twilio-idempotency-token": "d9c0f1d4-7a0f-4b57-9d10-5f0f0b3c2f10",
      },
      body: new URLSearchParams({
        ToCountry: "US",
        ToState: "CA",
        SmsMessageSid: "SM2d86f1dfd3a6b9a3a3b6c1a4e5f60718",
        NumMedia: "0",
        ToCity: "SAN FRANCISCO",
        FromZip: "94030",
        SmsSid: "SM2d86f1dfd3a6b9a3a3b6c1a4e5f60718",
        FromState: "CA",
        SmsStatus: "received",
        FromCity: "MILLBRAE",
        Body: "Where is my order?",
        FromCountry: "US",
        To: "+14155550101",
        NumSegments: "1",
        MessageSid: "SM2d86f1dfd3a6b9a3a3b6c1a4e5f60718",
        AccountSid: "AC0123456789abcdef0123456789abcdef",
        From: "+14155550102",
        ApiVersion: "2010-04-01",
      }).toString(),
    },
  ],
});
