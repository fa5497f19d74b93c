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
    // GitHub sends the event `ping` as soon as a webhook is added. It reports nothing to the agent.
    filter: 'event.type != "ping"',
  },
  examples: [
    {
      name: "push",
      query: {},
      headers: {
        "content-type": "application/json",
        "user-agent": "GitHub-Hookshot/044aadd",
        "x-github-delivery": "0b989ba4-242f-11e5-81e1-c7b6966d2516",
        "x-github-event": "push",
        "x-github-hook-id": "292430182",
        "x-github-hook-installation-target-id": "186853002",
        "x-github-hook-installation-target-type": "repository",
      },
      body: JSON.stringify({
        ref: "refs/heads/main",
        before: "6113728f27ae82c7b1a177c8d03f9e96e0adf246",
        after: "0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c",
        repository: {
          id: 186853002,
          full_name: "Codertocat/Hello-World",
          owner: { login: "Codertocat", id: 21031067 },
          default_branch: "main",
        },
        pusher: { name: "Codertocat", email: "21031067+Codertocat@users.noreply.github.com" },
        compare: "https://github.com/Codertocat/Hello-World/compare/6113728f27ae...0d1a26e67d8f",
        commits: [
          {
            id: "0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c",
            message: "Update README.md",
            timestamp: "2026-01-05T15:20:30Z",
            author: { name: "Codertocat", username: "Codertocat" },
            added: [],
            removed: [],
            modified: ["README.md"],
          },
        ],
        sender: { login: "Codertocat", id: 21031067 },
      }),
    },
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
