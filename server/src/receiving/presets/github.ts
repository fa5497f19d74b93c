import { definePreset } from "./define-preset.ts";

export const github = definePreset({
  name: "github",
  title: "GitHub",
  instructions:
    "In the repository's or organization's Settings → Webhooks → Add webhook, enter the URL as Payload URL, choose the content type application/json, and enter the secret as Secret.",
  url: "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
  secret_from: "receiver",
  settings: {
    verification: {
      kind: "hmac",
      header: "x-hub-signature-256",
      algorithm: "sha256",
      encoding: "hex",
      prefix: "sha256=",
      signed: ["body"],
    },
    event_id: { header: "x-github-delivery" },
    event_type: { header: "x-github-event" },
    headers: ["x-github-event"],
    bodies: { max_bytes: 1_048_576 },
  },
  examples: [
    {
      name: "issues opened",
      query: {},
      headers: {
        "content-type": "application/json",
        "user-agent": "GitHub-Hookshot/044aadd",
        "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        "x-github-event": "issues",
        "x-github-hook-id": "292430182",
        "x-github-hook-installation-target-id": "79929171",
        "x-github-hook-installation-target-type": "repository",
      },
      body: JSON.stringify({
        action: "opened",
        issue: {
          url: "https://api.github.com/repos/octocat/Hello-World/issues/1347",
          number: 1347,
          title: "Found a bug",
          state: "open",
          user: { login: "octocat", id: 1 },
          labels: [{ name: "bug" }],
          body: "I'm having a problem with this.",
        },
        repository: {
          id: 1296269,
          full_name: "octocat/Hello-World",
          owner: { login: "octocat", id: 1 },
        },
        sender: { login: "octocat", id: 1 },
      }),
    },
  ],
});
