import {
  createTriggerBody,
  listenBody,
  pageQuery,
  rotateBody,
  run,
  senderSecrets,
  setSenderSecretBody,
  testTriggerBody,
  trigger,
  triggerWarnings,
  updateTriggerBody,
} from "@beckon/contract";
import { z } from "zod";
import { startErrors } from "../../../runs/index.ts";
import {
  createTrigger,
  deleteTrigger,
  getTrigger,
  listenForSample,
  listTriggers,
  revealSenderSecret,
  revealTrigger,
  rotateTrigger,
  setSenderSecret,
  stopListening,
  type TriggerWithToken,
  testTrigger,
  updateTrigger,
} from "../../../triggers/index.ts";
import { dataOf, type ManagedRequest, type ManagedRoute } from "../../management/index.ts";
import { presetsNeeding200 } from "../../receiving/index.ts";

const list = "/agents/:agent_id/triggers";
const one = `${list}/:trigger_id`;

const agentOf = (request: ManagedRequest) => ({ agentId: request.param("agent_id") });
const triggerOf = (request: ManagedRequest) => ({
  ...agentOf(request),
  triggerId: request.param("trigger_id"),
});
const withBody = (request: ManagedRequest) => ({ ...triggerOf(request), body: request.body });

/**
 * Adds the URL that fires the trigger. The URL contains the trigger's token, so only routes that
 * show the token call this.
 */
const withUrl = (request: ManagedRequest, trigger: TriggerWithToken) => ({
  ...trigger,
  url: `${request.publicUrl}/api/public/triggers/${trigger.token}`,
});

const urlShown = z.object({ token: z.string(), url: z.string() });

const senderSecretsExample = {
  secret: "qq4bG3Z6nTtYfVn0mT8w1tq2b9xYy7cJ3mF5kP0sQeA",
  verify_token: null,
  previous_until: "2026-01-31T10:30:00.000Z",
};

/** Routes of triggers, their URLs, their secrets, tests and samples. */
export const triggerRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: list,
    permission: "triggers:write",
    doc: {
      id: "createTrigger",
      summary: "Create trigger",
      description:
        "Anyone with the `url` in the response can fire the trigger, unless `receiving` has a verification. The URL can be revealed later.",
      body: createTriggerBody,
      data: trigger,
      also: urlShown,
      created: "/agents/:agent_id/triggers/:id",
      once: true,
      etag: true,
      example: { name: "Payments", prompt_prefix: "A payment came in:" },
    },
    handle: async (request) => {
      const { data, replayed } = await createTrigger({
        ctx: request.ctx,
        input: { ...agentOf(request), body: request.body },
      });
      return { data: withUrl(request, data), replayed };
    },
  },
  {
    method: "GET",
    path: list,
    permission: "triggers:read",
    doc: {
      id: "listTriggers",
      summary: "List triggers",
      query: pageQuery,
      data: trigger,
      list: true,
    },
    handle: (request) =>
      listTriggers({ ctx: request.ctx, input: { ...agentOf(request), query: request.query } }),
  },
  {
    method: "GET",
    path: one,
    permission: "triggers:read",
    doc: { id: "getTrigger", summary: "Get trigger", data: trigger, etag: true },
    handle: (request) => dataOf(getTrigger({ ctx: request.ctx, input: triggerOf(request) })),
  },
  {
    method: "PATCH",
    path: one,
    permission: "triggers:write",
    doc: {
      id: "updateTrigger",
      summary: "Update trigger",
      description:
        "A disabled trigger rejects fires with 409 `trigger_disabled`, or swallows them if it is set to. `receiving` is replaced as a whole: what it leaves out gets the value of its `preset` or, without one, the default, which verifies nothing. If the trigger has a secret and no longer verifies its requests, `warnings` says so. A filter or template that is not valid is rejected; `warnings` also has the mistakes that it makes with the last received request, if the caller has the scope `runs:read`. A secret that the new verification cannot use is kept, and `sender_secret_set` is false until another one is set. A trigger with a secret that is switched to Meta gets a verify token.",
      body: updateTriggerBody,
      data: trigger,
      also: triggerWarnings,
      etag: true,
      ifMatch: true,
      example: { enabled: false },
    },
    handle: (request) => dataOf(updateTrigger({ ctx: request.ctx, input: withBody(request) })),
  },
  {
    method: "DELETE",
    path: one,
    permission: "triggers:write",
    doc: {
      id: "deleteTrigger",
      summary: "Delete trigger",
      description:
        "Its URL stops at once. Runs that it started continue. Its received requests can no longer be read; they are deleted within minutes or hours.",
      ifMatch: true,
    },
    handle: (request) => deleteTrigger({ ctx: request.ctx, input: triggerOf(request) }),
  },
  {
    method: "POST",
    path: `${one}/rotate`,
    permission: "triggers:write",
    doc: {
      id: "rotateTrigger",
      summary: "Rotate trigger URL",
      description:
        "Issues a new URL. The previous one stays valid for `grace_seconds`, 0 by default. A URL that an earlier rotation replaced stops at once, even in its grace period.",
      body: rotateBody,
      bodyOptional: true,
      data: trigger,
      also: urlShown,
      once: true,
      etag: true,
      example: { grace_seconds: 3600 },
    },
    handle: async (request) => {
      const { data, replayed } = await rotateTrigger({
        ctx: request.ctx,
        input: withBody(request),
      });
      return { data: withUrl(request, data), replayed };
    },
  },
  {
    method: "POST",
    path: `${one}/test`,
    permission: "triggers:write",
    alsoNeeds: "agents:invoke",
    doc: {
      id: "testTrigger",
      summary: "Test trigger",
      description:
        "Starts a run as a fire with this payload would, without the trigger's URL and without verification. A string is sent as text, all else as JSON, unless `content_type` says otherwise. With `request` the run is made of a received request or of an example of a preset. 409 `conflict` if the trigger's filter does not let it pass. The audit log records the test. Without the scope `runs:read`, `input` in the response is empty and `output` null.",
      body: testTriggerBody,
      exactPayload: true,
      bodyOptional: true,
      data: run,
      created: "/runs/:id",
      once: true,
      errors: [...startErrors, "trigger_disabled", "mapping_error"],
      example: { payload: { order: 4711 } },
    },
    handle: (request) => testTrigger({ ctx: request.ctx, input: withBody(request) }),
  },
  {
    method: "GET",
    path: `${one}/token`,
    permission: "triggers:write",
    recorded: true,
    doc: {
      id: "revealTrigger",
      summary: "Reveal trigger URL",
      description: "The audit log records the reveal.",
      data: trigger,
      also: urlShown,
      etag: true,
      errors: ["secret_unreadable"],
    },
    handle: async (request) => ({
      data: withUrl(request, await revealTrigger({ ctx: request.ctx, input: triggerOf(request) })),
    }),
  },
  {
    method: "POST",
    path: `${one}/secret`,
    permission: "triggers:write",
    doc: {
      id: "setTriggerSecret",
      summary: "Set sender secret",
      description:
        "Sets the secret that the sender signs with or sends, or generates one. With `grace_seconds`, requests with the previous secret are also accepted for that time.",
      body: setSenderSecretBody,
      bodyOptional: true,
      data: senderSecrets,
      once: true,
      errors: ["conflict"],
      example: { grace_seconds: 3600 },
      dataExample: senderSecretsExample,
    },
    handle: (request) => setSenderSecret({ ctx: request.ctx, input: withBody(request) }),
  },
  {
    method: "GET",
    path: `${one}/secret`,
    permission: "triggers:write",
    recorded: true,
    doc: {
      id: "revealTriggerSecret",
      summary: "Reveal sender secret",
      description: "404 if no secret is set. The audit log records the reveal.",
      data: senderSecrets,
      errors: ["secret_unreadable"],
      dataExample: senderSecretsExample,
    },
    handle: (request) =>
      dataOf(revealSenderSecret({ ctx: request.ctx, input: triggerOf(request) })),
  },
  {
    method: "POST",
    path: `${one}/listen`,
    permission: "triggers:write",
    doc: {
      id: "listenTrigger",
      summary: "Listen for sample",
      description: `Captures the next verified request: it is stored, can be replayed, and starts no run. The sender gets 202; 200 with the presets ${presetsNeeding200}, with the verification \`twilio\`, and for forms with the preset \`slack\`; 303 or 200 if \`form.answer\` is set. Listening ends with that request or after \`seconds\`. 409 if the trigger has no \`receiving\`.`,
      body: listenBody,
      bodyOptional: true,
      data: trigger,
      once: true,
      etag: true,
      errors: ["conflict"],
      example: { seconds: 120 },
    },
    handle: (request) => listenForSample({ ctx: request.ctx, input: withBody(request) }),
  },
  {
    method: "DELETE",
    path: `${one}/listen`,
    permission: "triggers:write",
    doc: {
      id: "stopListeningTrigger",
      summary: "Stop listening",
      description: "Has no effect if the trigger does not listen.",
    },
    handle: (request) => stopListening({ ctx: request.ctx, input: triggerOf(request) }),
  },
];
