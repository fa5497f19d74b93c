import {
  preset,
  preview,
  receivedRequest,
  receivedRequestDetails,
  receiving,
  trigger,
} from "@beckon/contract";
import { id, time } from "./example-values.ts";
import type { Resource } from "./resource.ts";

const receivingExample = receiving.parse({
  preset: "github",
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
  filter: "event.type == 'push'",
  template: "{{ payload.pusher.name }} pushed to {{ payload.ref }}.",
});

const requestExample = {
  id: id("req"),
  agent_id: id("agt"),
  trigger_id: id("trg"),
  received_at: time,
  outcome: "started",
  error: null,
  event_id: "72d3162e-cc78-11e3-81ab-4c9367dc0958",
  event_type: "push",
  run_id: id("run"),
  replay_of: null,
  address: "192.0.2.1",
  content_type: "application/json",
  size: 57,
};

/** The entries of `resources` for triggers and their requests. */
export const triggerResources: readonly Resource[] = [
  {
    name: "Trigger",
    schema: trigger,
    example: {
      id: id("trg"),
      agent_id: id("agt"),
      version: "pEmOXzC7kgVyWgIq",
      name: "Payments",
      prompt_prefix: "A payment came in:",
      enabled: true,
      allows_callback: false,
      receiving: null,
      sender_secret_set: false,
      listening_until: null,
      created_at: time,
      updated_at: time,
    },
  },
  {
    name: "TriggerPreset",
    schema: preset,
    example: {
      name: "github",
      title: "GitHub",
      instructions:
        "In Settings → Webhooks → Add webhook, enter the URL as Payload URL and the secret as Secret.",
      url: "https://docs.github.com/en/webhooks",
      secret_from: "receiver",
      receiving: receivingExample,
      examples: [],
    },
  },
  { name: "ReceivedRequest", schema: receivedRequest, example: requestExample },
  {
    name: "ReceivedRequestDetails",
    schema: receivedRequestDetails,
    example: {
      ...requestExample,
      query: {},
      headers: { "content-type": "application/json", "x-github-event": "push" },
      body: '{"ref":"refs/heads/main","pusher":{"name":"Codertocat"}}',
      body_encoding: "utf8",
    },
  },
  {
    name: "TriggerPreview",
    schema: preview,
    example: {
      event_id: "72d3162e-cc78-11e3-81ab-4c9367dc0958",
      event_type: "push",
      passes: true,
      input: "A push:\n\nCodertocat pushed to refs/heads/main.",
      parts: [
        { kind: "prefix", text: "A push:" },
        { kind: "message", text: "Codertocat pushed to refs/heads/main." },
      ],
      mistakes: [],
    },
  },
] as const;
