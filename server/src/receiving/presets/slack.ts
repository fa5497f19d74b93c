import { definePreset } from "./define-preset.ts";

export const slack = definePreset({
  name: "slack",
  title: "Slack",
  instructions:
    "First copy the Signing Secret from the app's Basic Information at api.slack.com/apps and enter it here, then enter the URL in Event Subscriptions → Request URL, which Slack verifies at once.",
  url: "https://docs.slack.dev/authentication/verifying-requests-from-slack",
  secret_from: "sender",
  settings: {
    verification: {
      kind: "hmac",
      header: "x-slack-signature",
      algorithm: "sha256",
      encoding: "hex",
      prefix: "v0=",
      timestamp: { header: "x-slack-request-timestamp" },
      signed: [{ literal: "v0:" }, "timestamp", { literal: ":" }, "body"],
      tolerance_seconds: 300,
    },
    handshake: "slack",
    event_id: { pointer: "/event_id" },
    event_type: { pointer: "/event/type" },
  },
  examples: [
    {
      name: "app_mention",
      query: {},
      headers: {
        "content-type": "application/json",
        "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        "x-slack-request-timestamp": "1531420618",
      },
      body: JSON.stringify({
        team_id: "T061EG9R6",
        api_app_id: "A0PNCHHK2",
        event: {
          type: "app_mention",
          user: "U061F7AUR",
          text: "<@U0LAN0Z89> is it everything a river should be?",
          ts: "1515449522.000016",
          channel: "C0LAN2Q65",
          event_ts: "1515449522000016",
        },
        type: "event_callback",
        event_id: "Ev0LAN670R",
        event_time: 1_515_449_522_000_016,
        authorizations: [{ enterprise_id: null, team_id: "T061EG9R6", user_id: "U0LAN0Z89" }],
      }),
    },
    {
      name: "slash command",
      query: {},
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        "x-slack-request-timestamp": "1531420618",
      },
      body: new URLSearchParams({
        team_id: "T0001",
        team_domain: "example",
        channel_id: "C2147483705",
        channel_name: "test",
        user_id: "U2147483697",
        user_name: "Steve",
        command: "/weather",
        text: "94070",
        response_url: "https://hooks.slack.com/commands/1234/5678",
        trigger_id: "13345224609.738474920.8088930838d88f008e0",
        api_app_id: "A123456",
      }).toString(),
    },
  ],
});
